"""Pages and charts about runs; needs the extra `headstack[report]`."""
