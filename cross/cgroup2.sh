#!/bin/bash
# The memory tests under a kernel with version 2 of memory groups alone, for machines that have version 1:
#   cross/cgroup2.sh KERNEL [TEST-FILTER]
# KERNEL is a bzImage with memory groups, NVMe and ext4 built in, as Debian's linux-image-cloud-amd64 has them.
# Needs qemu-system-x86_64, busybox (static) and mke2fs; emulates the processor, KVM=1 does not. Ends with the tests' exit code.
set -euo pipefail
cd "$(dirname "$0")/.."

kernel=${1:?"usage: $0 KERNEL [TEST-FILTER]: a bzImage, for instance /boot/vmlinuz-$(uname -r)"}
filter=${2:-memory::}
for tool in qemu-system-x86_64 busybox mke2fs; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install qemu-system-x86 busybox-static e2fsprogs"; exit 1; }
done

cargo test --locked -p runner --test integration --no-run
tests=$(cargo test --locked -p runner --test integration --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*integration-[^"]*\)".*/\1/p' | tail -n 1)
program=${CARGO_TARGET_DIR:-$PWD/target}/debug/edge-eval

image=$(mktemp -d)
trap 'rm -rf "$image" "$image.ext4" "$image.log"' EXIT
add() { mkdir -p "$image$(dirname "$1")"; cp -L "$1" "$image$1"; }
mkdir -p "$image"/{proc,sys,dev,tmp,bin}
cp "$(command -v busybox)" "$image/bin/busybox"
for applet in sh mount mkdir cat poweroff sleep; do ln -s busybox "$image/bin/$applet"; done
add "$tests"; add "$program"
for file in $(ldd "$tests" "$program" | grep -o '/[^ :)]*' | grep '\.so' | sort -u); do add "$file"; done
mkdir -p "$image$PWD"; cp -r tests configs "$image$PWD/"

# As a delegated group is: the program runs in one below the root, which has the memory controller.
cat >"$image/init" <<INIT
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mount -t cgroup2 group /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/tests
cd $PWD; export HOME=/tmp
sh -c 'echo \$\$ >/sys/fs/cgroup/tests/cgroup.procs; exec "\$@"' - "$tests" "$filter" --test-threads=1 --nocapture; echo "exit code: \$?"
poweroff -f
INIT
chmod +x "$image/init"
# A disk and no initial memory file system: there the program's own pages would count as private memory.
mke2fs -q -t ext4 -d "$image" "$image.ext4" "$(($(du -sm "$image" | cut -f 1) * 5 / 4 + 32))M"

accelerator=(-accel "tcg,thread=multi" -cpu max)
[ "${KVM:-0}" = 1 ] && accelerator=(-accel kvm -cpu host)
qemu-system-x86_64 "${accelerator[@]}" -smp 2 -m 3G -kernel "$kernel" \
    -drive "file=$image.ext4,format=raw,if=none,id=disk" -device nvme,drive=disk,serial=1 \
    -no-user-config -vga none -append "console=ttyS0 quiet root=/dev/nvme0n1 rw init=/init panic=-1 cgroup_no_v1=all" -nographic -no-reboot | tee "$image.log"
code=$(sed -n 's/^exit code: \([0-9]*\).*/\1/p' "$image.log" | tail -n 1)
exit "${code:-1}"
