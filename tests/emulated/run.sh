#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/emulated/run.sh [FILTER]
#
# Runs the tests of kernels (or those that GoogleTest's FILTER names) on a processor with AVX-512,
# VNNI and BF16 that Bochs emulates, under a small Linux: for machines that have no such processor.
# Takes some ten minutes of one core. Needs Debian's packages mmdebstrap and xorriso; the emulator
# (Bochs 3.0, of Debian 13) and what it boots are unpacked into build/emulated, not installed.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

filter=${1:-*}
for tool in mmdebstrap xorriso; do
  command -v $tool >/dev/null || { echo "there is no $tool; run: apt-get install $tool" >&2; exit 1; }
done
cmake/build.sh release quire_kernels_test
program=build/release/bin/quire_kernels_test
folder=build/emulated
mkdir -p $folder

# unpack FOLDER SUITE PACKAGES: those packages and what they depend on.
unpack() {
  [[ ! -e $folder/$1.done ]] || return 0
  rm -rf "${folder:?}/$1"
  mmdebstrap --quiet --variant=extract --include="$3" "$2" "$folder/$1"
  touch "$folder/$1.done"
}
unpack host trixie bochs,bochs-term
unpack guest bookworm linux-image-cloud-amd64,isolinux,syslinux-common,busybox-static

# The guest's first and only program, in a file system in memory with the libraries of the tests.
rm -rf $folder/root $folder/disc
mkdir -p $folder/root/{bin,dev,proc} $folder/disc/isolinux
cp $program $folder/root/tests
# shellcheck disable=SC2046
cp -L --parents $(ldd $program | grep -o '/[^ ]*') $folder/root
cp $folder/guest/bin/busybox $folder/root/bin
cat >$folder/root/init <<END
#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
for flag in avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16; do
  busybox grep -qw \$flag /proc/cpuinfo || echo "the emulated processor has no \$flag"
done
/tests --gtest_color=no --gtest_filter='$filter'
echo "tests: exit status \$?"
busybox sleep 1
busybox reboot -f
END
chmod +x $folder/root/init
(cd $folder/root && find . | ../guest/bin/busybox cpio -o -H newc 2>/dev/null | gzip -1) \
  >$folder/disc/initrd
cp $folder/guest/boot/vmlinuz-* $folder/disc/linux
cp $folder/guest/usr/lib/ISOLINUX/isolinux.bin $folder/disc/isolinux
cp $folder/guest/usr/lib/syslinux/modules/bios/ldlinux.c32 $folder/disc/isolinux

# Where the emulator and Linux disagree: the processor says "fast short REP MOVSB" but not that fast
# strings are on, with which Linux 6.1 miscopies (clearcpuid=580: none of it); AMX's registers are
# not to be had in part; ACPI's entry to system management mode is one without return.
cat >$folder/disc/isolinux/isolinux.cfg <<'END'
default linux
label linux
  kernel /linux
  append initrd=/initrd console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable acpi=off clearcpuid=580 rcupdate.rcu_expedited=1 reboot=t
END
xorriso -as mkisofs -quiet -o $folder/disc.iso -b isolinux/isolinux.bin -c isolinux/boot.cat \
  -no-emul-boot -boot-load-size 4 -boot-info-table $folder/disc 2>/dev/null

libraries=$folder/host/usr/lib/x86_64-linux-gnu
cat >$folder/bochsrc <<END
cpu: model=sapphire_rapids, reset_on_triple_fault=0, exclude_features="amx,amx_int8,amx_bf16"
memory: guest=512, host=512
romimage: file=$folder/host/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=$folder/host/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$folder/disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$folder/output.txt
display_library: term
log: $folder/bochs.log
error: action=ignore
panic: action=fatal
END
rm -f $folder/output.txt
echo "emulated: the tests run; their output goes to $folder/output.txt" >&2
# The guest ends by a reset, which Bochs takes for a failure; its display needs a terminal.
TERM=xterm LTDL_LIBRARY_PATH=$libraries/bochs/plugins BXSHARE=$folder/host/usr/share/bochs \
  timeout 7200 script -qfc "$libraries/ld-linux-x86-64.so.2 --library-path $libraries \
    $folder/host/usr/bin/bochs-bin -q -f $folder/bochsrc" /dev/null </dev/null \
  >$folder/screen.txt 2>&1 || true
tr -d '\r' <$folder/output.txt
grep -aq '^the emulated processor has no' $folder/output.txt && exit 1
grep -aq '^tests: exit status 0' $folder/output.txt
