#!/usr/bin/env bash
# Builds what is given to users, into FOLDER (target/artifacts):
#
#   manycore-openmp-VERSION-x86_64-linux.tar.gz  the OpenMP library, and the command that preloads it
#   manycore_openmp-VERSION-py3-none-….whl       the same for pip
#   libmanycore-gomp_VERSION_amd64.deb           the same for Debian, Ubuntu and their like
#   manycore_VERSION_amd64.deb                   the laboratory's command, with its manual and completions
#   manycore-VERSION.cdx.json                    what they are built of (CycloneDX)
#   SHA256SUMS                                   the sums of all these
#
#   ci/release.sh [--out FOLDER] [PART…]   all parts, or some of: tar wheel deb command sbom. Other parts of this
#                                          version that are in FOLDER stay
#   ci/release.sh --try [--out FOLDER]     installs what is in FOLDER in clean roots (ci/release-try.sh)
#
# MAINTAINER='NAME <ADDRESS>' is put into the Debian packages. Without it they have an address that reaches nobody
# (maintainers@manycore.invalid, RFC 2606), as long as the project has none that is public.
#
# Needs an x86-64 machine, python3, a C compiler and readelf; for the wheel also python3-venv and PyPI, for the Debian
# packages cargo-deb and dpkg-dev (cargo install cargo-deb). With cargo-zigbuild and zig
# (pip install cargo-zigbuild ziglang) the library needs glibc 2.17; without, that of this machine.
# `libgomp.so.1` needs that of this machine in any case, since the C compiler links it.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
out=target/artifacts
parts=()
tries=false
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=${2:?expected a folder after --out}; shift ;;
    --try) tries=true ;;
    tar | wheel | deb | command | sbom) parts+=("$1") ;;
    *) echo "release: $1: expected --out FOLDER, --try, tar, wheel, deb, command or sbom" >&2; exit 2 ;;
    esac
    shift
done
if $tries; then
    exec ci/release-try.sh "$out"
fi
[ ${#parts[@]} -gt 0 ] || parts=(tar wheel deb command sbom)
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }

# The files' names contain this processor's.
[ "$(uname -m)" = x86_64 ] || { echo "release: found $(uname -m); expected an x86-64 machine" >&2; exit 2; }
if [ -n "${MAINTAINER:-}" ] && ! [[ $MAINTAINER =~ ^[^\<\>]+\ \<[^@\ ]+@[^@\ ]+\>$ ]]; then
    echo "release: MAINTAINER: found $MAINTAINER; expected NAME <ADDRESS>" >&2
    exit 2
fi
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The same commit has the same files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
target=${CARGO_TARGET_DIR:-target}
# Here wherever the target is, since the packages' manifests name it.
stage=target/release-stage
rm -rf "$stage"
mkdir -p "$out" "$stage"
# What is built now, and what a release of another version has left, is not to be among the sums.
for part in 'tar manycore-openmp-*.tar.gz' 'wheel manycore_openmp-*.whl' 'deb libmanycore-gomp_*.deb' \
    'command manycore_*.deb' 'sbom manycore-*.cdx.json'; do
    for file in "$out"/${part#* }; do
        if wanted "${part%% *}" || [[ $file != */*[-_]"$version"[-.]* ]]; then rm -f "$file"; fi
    done
done
rm -f "$out/SHA256SUMS"
packaging=openmp/packaging

# Builds the library, into the stage.
library() {
    local built=$target/release file
    if command -v cargo-zigbuild >/dev/null; then
        cargo zigbuild --release --quiet --package manycore-openmp --target x86_64-unknown-linux-gnu.2.17
        built=$target/x86_64-unknown-linux-gnu/release
    else
        echo "release: no cargo-zigbuild: the library needs a glibc as new as this machine's" >&2
        cargo build --release --quiet --package manycore-openmp
    fi
    mkdir -p "$stage/system"
    openmp/link.sh "$built/libmanycore_gomp.a" "$stage/system"
    rm "$stage/system/libgomp.so"
    cp "$built/libmanycore_gomp.so" "$stage/libgomp-manycore.so"
    # gdb reads its script in a section that looks as if it were for debugging alone.
    strip --strip-debug --keep-section=.debug_gdb_scripts \
        "$stage/libgomp-manycore.so" "$stage/system/libgomp.so.1"
    for file in "$stage/libgomp-manycore.so" "$stage/system/libgomp.so.1"; do
        if ! readelf --sections --wide "$file" | grep -qF .debug_gdb_scripts; then
            echo "release: $file: no script for gdb; expected a section .debug_gdb_scripts" >&2
            exit 1
        fi
    done
    cp "$packaging/manycore-omp" "$packaging/manycore-omp.bash" "$packaging/libgomp-manycore.so-gdb.py" "$stage"
    cp "$packaging/libgomp-manycore.so-gdb.py" "$stage/libgomp.so.1-gdb.py"
    gzip -9n <"$packaging/manycore-omp.1" >"$stage/manycore-omp.1.gz"
    cp LICENSE-APACHE LICENSE-MIT NOTICES.txt "$stage"
    ci/sbom.py --notices manycore-openmp >"$stage/NOTICES-crates.txt"
    cp openmp/README.md "$stage/README.md"
}

# The newest version of glibc that a library asks for, such as 2.17. `libgomp.so.1` also defines such versions.
glibc() {
    readelf --version-info --wide "$1" | sed -n '/^Version needs/,/^$/p' | grep -o 'GLIBC_[0-9.]*' | sed s/GLIBC_// |
        sort -uV | tail -1
}

tarball() {
    local name=manycore-openmp-$version-x86_64-linux
    local root=$stage/tar/$name
    mkdir -p "$root"/{bin,lib/system,share/man/man1,share/bash-completion/completions}
    cp "$stage/manycore-omp" "$root/bin"
    cp "$stage"/libgomp-manycore.so "$stage"/libgomp-manycore.so-gdb.py "$root/lib"
    cp "$stage/system/libgomp.so.1" "$root/lib/system"
    cp "$stage/manycore-omp.1.gz" "$root/share/man/man1"
    cp "$stage/manycore-omp.bash" "$root/share/bash-completion/completions/manycore-omp"
    cp "$stage"/{README.md,LICENSE-*,NOTICES*.txt} "$root"
    tar --directory "$stage/tar" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --mtime="@$SOURCE_DATE_EPOCH" --create "$name" | gzip -9n >"$out/$name.tar.gz"
}

wheel() {
    local root=$stage/wheel tools=target/release-tools needs tag
    cp -r "$packaging/python" "$root"
    sed -i "s/^version = .*/version = \"$version\"/" "$root/pyproject.toml"
    cp "$stage/libgomp-manycore.so" "$root/manycore_openmp"
    cp "$stage"/{LICENSE-*,NOTICES*.txt} "$root"
    [ -x "$tools/bin/python" ] || python3 -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'setuptools>=77' wheel
    (cd "$root" && "$OLDPWD/$tools/bin/python" -m pip wheel --quiet --disable-pip-version-check \
        --no-deps --no-build-isolation --wheel-dir ../wheels .)
    needs=$(glibc "$stage/libgomp-manycore.so")
    tag=manylinux_${needs/./_}_x86_64
    # pip before 20.3 knows the older name.
    [ "$needs" != 2.17 ] || tag+=.manylinux2014_x86_64
    "$tools/bin/python" -m wheel tags --remove --python-tag py3 --abi-tag none --platform-tag "$tag" \
        "$stage"/wheels/*.whl >/dev/null
    cp "$stage"/wheels/*.whl "$out"
}

packages() { # crate binaries
    local file root=$stage/packed binary needs depends
    file=$(cargo deb --quiet --no-build --no-strip --locked --package "$1" --output "$out/")
    shift
    # cargo-deb runs dpkg-shlibdeps only for files that end in `.so` or may be executed.
    needs=$(for binary in "$@"; do glibc "$binary"; done | sort -V | tail -1)
    depends=$(dpkg-deb --field "$file" Depends | grep -o 'libc6 (>= [0-9.]*' | sed 's/.* //' | sort -V | tail -1 || true)
    if [ "$(printf '%s\n' "$needs" "$depends" | sort -V | tail -1)" != "$depends" ]; then
        echo "release: $file: depends on glibc ${depends:-of any version}; expected at least $needs" >&2
        exit 1
    fi
    [ -n "${MAINTAINER:-}" ] || return 0
    rm -rf "$root"
    dpkg-deb --raw-extract "$file" "$root"
    awk -v line="Maintainer: $MAINTAINER" '/^Maintainer:/ { print line; next } { print }' \
        "$root/DEBIAN/control" >"$stage/control"
    cp "$stage/control" "$root/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$root" "$file" >/dev/null
}

command_package() {
    local name
    cargo build --release --quiet --package manycore-lab
    mkdir -p "$stage/man" "$stage/completions"
    "$target/release/manycore" man --out "$stage/man" >/dev/null
    gzip -9n "$stage"/man/*.1
    for name in bash zsh fish; do
        "$target/release/manycore" completions "$name" >"$stage/completions/manycore.$name"
    done
    cp "$target/release/manycore" "$stage/manycore"
    strip "$stage/manycore"
    mkdir -p "$stage/command"
    ci/sbom.py --notices manycore-lab >"$stage/command/NOTICES-crates.txt"
    packages manycore-lab "$stage/manycore"
}

if wanted tar || wanted wheel || wanted deb; then
    library
fi
if wanted tar; then tarball; fi
if wanted wheel; then wheel; fi
if wanted deb; then packages manycore-openmp "$stage/libgomp-manycore.so" "$stage/system/libgomp.so.1"; fi
if wanted command; then command_package; fi
if wanted sbom; then ci/sbom.py manycore-openmp manycore-lab >"$out/manycore-$version.cdx.json"; fi
(cd "$out" && sha256sum -- *manycore* >SHA256SUMS)
ls -l "$out"
