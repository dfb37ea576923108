"""`python -m headstack`."""

from headstack.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
