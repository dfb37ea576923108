#!/usr/bin/env bash
# What the guest of test_guest.py is made of, from Debian's packages: qemu, a static busybox and blktrace are installed
# (root, apt-get); the kernel is only unpacked, into the folder named. Exits 77 where that cannot be had.
set -euo pipefail
into=${1:?the folder for the kernel}

cannot() {
  echo "no guest: $1" >&2
  exit 77
}

missing=()
command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
command -v busybox >/dev/null || missing+=(busybox-static)
command -v blktrace >/dev/null || missing+=(blktrace)
[[ $(uname -m) == x86_64 ]] || cannot "it is of x86-64, and this machine of $(uname -m)"
command -v apt-get >/dev/null || cannot "apt-get is not here"
if ((${#missing[@]})); then
  [[ $(id -u) == 0 ]] || cannot "missing ${missing[*]}, and only root may install"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >/dev/null || cannot "${missing[*]} cannot be installed"
fi

[[ -e $into/vmlinuz ]] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" { print $2; exit }')
[[ -n $kernel ]] || cannot "the package lists know no linux-image-cloud-amd64"
apt-get download -qq "$kernel" 2>/dev/null || cannot "$kernel cannot be fetched"
dpkg-deb -x "$kernel"_*.deb unpacked
cd - >/dev/null
mkdir -p "$into/modules"
# Older and newer kernels compress their modules or not.
find "$work/unpacked" -name 'virtio*.ko*' -exec cp -t "$into/modules" {} +
for module in "$into"/modules/*.xz; do [[ -e $module ]] && xz -d "$module"; done
mv "$work"/unpacked/boot/vmlinuz-* "$into/vmlinuz"
