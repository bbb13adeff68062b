# shellcheck shell=bash
# Functions that `./run` and `./test` share; to be sourced by bash, from the repository's root.

# Says what went wrong and how to put it right, and ends the script.
die() {
    printf 'error: %s\n' "$1" >&2
    shift
    if (($#)); then printf '  %s\n' "$@" >&2; fi
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages if that is possible without asking anybody; otherwise names the command that does.
install_packages() {
    local install=(apt-get install -y --no-install-recommends "$@") as_root=()
    have apt-get || die "missing: $*" "install these packages (Debian's names) with your distribution's tool"
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || die "missing packages: $*" "run: sudo ${install[*]}"
        as_root=(sudo -n)
    fi
    echo "installing: $*"
    export DEBIAN_FRONTEND=noninteractive
    # apt-get does not wait for another one. The lock is on this folder, and ends with this function.
    local lock
    exec {lock}<.
    flock "$lock"
    # A package list that is out of date is the usual reason for a failure: fetch it then, not always.
    "${as_root[@]}" "${install[@]}" >/dev/null 2>&1 ||
        { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" "${install[@]}" >/dev/null; } ||
        die "could not install: $*" "run: sudo apt-get update && sudo ${install[*]}"
    exec {lock}<&-
}

# True if version $1 is at least $2.
at_least() { [[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

# Cargo, new enough, and the linker that it calls: all that a build of Takt needs.
need_rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if ! have cargo && [[ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]]; then
        PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    fi
    have cargo || die "cargo is not installed; Takt needs Rust $wanted or newer" \
        "with rustup (Debian 13: sudo apt-get install rustup): rustup default stable"
    found=$(cargo --version | cut -d ' ' -f 2) || die "cargo does not work" "run: rustup default stable"
    at_least "$found" "$wanted" || die "Rust $found is too old; Takt needs $wanted or newer" "run: rustup update stable"
    have cc || install_packages gcc libc6-dev
}
