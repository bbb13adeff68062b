# shellcheck shell=bash
# Parts of `./test` that compile everything once more: for an interpreter, a processor, a sanitizer or a model checker; to be sourced by
# bash after requirements.sh.

# Tests of all crates with models of loom. ARGUMENTS...
loom_tests() {
    # Another target folder: these flags would have everything compiled anew, twice. The models need fast code, and no
    # optimization across crates.
    local manifest manifests crates=()
    mapfile -t manifests < <(grep -l "cfg(loom)" crates/*/Cargo.toml)
    for manifest in "${manifests[@]}"; do crates+=(--package "$(basename "${manifest%/*}")"); done
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$TARGET/loom CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo test --release "${crates[@]}" --lib "$@"
}

ahead_loom() { loom_tests --no-run; }

part_loom() { loom_tests loom; }

# Tests of one crate under Miri: an interpreter that finds undefined behaviour, and races in some of the orders that the memory model
# allows. It is some thousand times slower than the processor, so what is run is chosen by names. CRATE ARGUMENTS...
miri_tests() {
    echo "---- Miri: $*"
    # Segments of shared memory are files there, which Miri has to be allowed to make.
    MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=2 RUST_BACKTRACE=0 CARGO_TARGET_DIR=$TARGET/miri \
        cargo +nightly miri test --package "$@"
}

need_miri() {
    rustup run nightly cargo --version >/dev/null 2>&1 || { echo "no nightly toolchain: rustup toolchain install nightly"; return 77; }
    cargo +nightly miri --version >/dev/null 2>&1 || rustup component add --toolchain nightly miri rust-src ||
        { echo "no Miri: rustup component add --toolchain nightly miri rust-src"; return 77; }
}

readonly MIRI_AARCH64=(--target aarch64-unknown-linux-gnu)

ahead_miri() {
    need_miri || return 1
    local crate
    for crate in takt-rt takt-cell; do miri_tests "$crate" --no-run || return 1; done
    for crate in takt-shm takt-ua takt-layout; do miri_tests "$crate" --no-run || return 1; done
    for crate in takt-rt takt-cell takt-shm; do miri_tests "$crate" "${MIRI_AARCH64[@]}" --no-run || return 1; done
}

part_miri() {
    need_miri || return
    # Left out is what Miri cannot run: system calls (takt-link, sockets in takt-shm, priorities in takt-rt) and C functions (takt-malloc).
    miri_tests takt-rt --lib -- segment shared_bytes || return 1
    miri_tests takt-cell --lib --test it -- slots:: shared:: publication:: words:: stress:: || return 1
    miri_tests takt-shm --lib -- channel::tests attention::tests header::tests layout::tests mail::tests scratch::tests || return 1
    miri_tests takt-ua --test it -- bytes_with:: || return 1
    miri_tests takt-layout --lib || return 1
    # What is free of locks once more, as compiled for aarch64: another choice of code, and other orders, as the threads run differently.
    miri_tests takt-rt "${MIRI_AARCH64[@]}" --lib -- shared_bytes || return 1
    miri_tests takt-cell "${MIRI_AARCH64[@]}" --lib --test it -- slots:: publication:: stress:: || return 1
    miri_tests takt-shm "${MIRI_AARCH64[@]}" --lib -- channel::tests attention::tests || return 1
}

readonly AARCH64=aarch64-unknown-linux-gnu
readonly AARCH64_LIBRARIES=/usr/aarch64-linux-gnu
readonly AARCH64_EMULATOR="qemu-aarch64-static -L $AARCH64_LIBRARIES"

# The plain target of the stable toolchain, Debian's cross compiler, and qemu in place of the processor.
need_aarch64() {
    have rustup || { echo "no rustup, which has the target: rustup target add $AARCH64"; return 77; }
    rustup target add "$AARCH64" || { echo "no target: rustup target add $AARCH64"; return 77; }
    have aarch64-linux-gnu-gcc || install_packages gcc-aarch64-linux-gnu
    # The compiler brings the libraries, but not the headers.
    [[ -e $AARCH64_LIBRARIES/include/stdlib.h ]] || install_packages libc6-dev-arm64-cross
    have qemu-aarch64-static || install_packages qemu-user-static
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    # Tests that start their executable again for a process of their own name the emulator too.
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$AARCH64_EMULATOR TAKT_TEST_RUNNER=$AARCH64_EMULATOR
    # Compiled once: neither notes for the next time nor names of lines.
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
    export CARGO_TARGET_DIR=$TARGET/aarch64 CARGO_BUILD_TARGET=$AARCH64
}

# The crates with unsafe code, and those of the tests that start the command line. Each command selects all of them, even if it runs
# tests of some: other features of their dependencies would compile most of these once more.
readonly AARCH64_CRATES=(--package takt --package takt-tests --package takt-rt --package takt-cell --package takt-link --package takt-ua
    --package takt-shm --package takt-malloc)

ahead_aarch64() {
    need_aarch64 || return 1
    cargo build "${AARCH64_CRATES[@]}" --bin takt || return 1
    cargo test "${AARCH64_CRATES[@]}" --lib --test end_to_end --no-run
}

part_aarch64() {
    need_aarch64 || return
    # The models of loom have a part of their own. The emulator passes on neither requests to network cards (ethtool) nor the
    # option IP_MTU of a socket.
    cargo test --no-fail-fast "${AARCH64_CRATES[@]}" --lib -- --skip loom --skip the_loopback_interface_has_software_time_stamps \
        --skip the_mtu_is_that_of_the_route || return 1
    # The tests start this command line. The kernel need not know how to start foreign binaries: a script names the emulator.
    cargo build "${AARCH64_CRATES[@]}" --bin takt || return 1
    local takt
    takt=$(realpath "$CARGO_TARGET_DIR/$AARCH64/debug/takt")
    export TAKT_BIN=$takt-emulated
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$AARCH64_EMULATOR" "$takt" >"$TAKT_BIN"
    chmod +x "$TAKT_BIN"
    # The conformance suite over both transports; then a registry, a Provider and each of a Consumer's commands, processes of their own.
    # Left out is `takt demo`, which starts itself through /proc/self/exe: that is the emulator.
    cargo test "${AARCH64_CRATES[@]}" --test end_to_end -- conformance:: every_command_works_at_every_endpoint || return 1
}

# What the inputs of a fuzz target are made of.
fuzz_dictionary() {
    case $1 in
        tcp_server | tcp_client) echo tcp ;;
        json_message | jwt | ua_json | tsn_read_back) echo json ;;
        nodeset*) echo nodeset ;;
        scenario | pubsub_configuration) echo toml ;;
        wire_* | pubsub_* | subscriber) echo uadp ;;
        capture | link_frame) echo capture ;;
        *) echo ua ;;
    esac
}

# Compiles all fuzz targets with the flags of cargo-fuzz, except for its full optimization in one unit for each crate. A run of seconds
# gets none: compiling takes 11 minutes of processor time then, and 27 with a little optimization, which makes the targets some 5 to
# 20 times as fast.
fuzz_build() {
    local flags=(--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module -Zsanitizer=address) option level=0
    ((FUZZ_SECONDS < 60)) || level=1
    for option in level=4 inline-8bit-counters pc-table trace-compares; do flags+=("-Cllvm-args=-sanitizer-coverage-$option"); done
    # With a target, these flags hold for neither build scripts nor macros.
    RUSTFLAGS="${flags[*]}" CARGO_PROFILE_RELEASE_OPT_LEVEL=$level CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_TARGET_DIR=$TARGET/fuzz \
        cargo +nightly build --release --bins --manifest-path fuzz/Cargo.toml --target "$(fuzz_triple)"
}

fuzz_triple() { rustc +nightly -vV | sed -n 's/^host: //p'; }

# A target, as a test with a result of its own. NAME
fuzz_target() {
    local target=$1 corpora dictionary
    dictionary=fuzz/dictionaries/$(fuzz_dictionary "$target").dict
    # Inputs that were found before, and real ones to start from.
    corpora=("fuzz/corpus/$target")
    mkdir -p "${corpora[0]}" "fuzz/artifacts/$target"
    [[ $target != nodeset ]] || corpora+=(nodesets)
    [[ $target != scenario ]] || corpora+=(scenarios examples/plant)
    [[ ! -d fuzz/seeds/$target ]] || corpora+=("fuzz/seeds/$target")
    echo "---- fuzz target $target"
    if TAKT_FUZZ_TARGET=$target "$TARGET/fuzz/$(fuzz_triple)/release/fuzz" "${corpora[@]}" "-artifact_prefix=fuzz/artifacts/$target/" -dict="$dictionary" \
        -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=2048 -timeout=10 -verbosity=0; then
        echo "test result: ok. 1 passed; 0 failed; 0 ignored"
    else
        echo "test result: FAILED. 0 passed; 1 failed; 0 ignored"
        return 1
    fi
}

need_fuzz() {
    rustup run nightly cargo --version >/dev/null 2>&1 || { echo "no nightly toolchain: rustup toolchain install nightly"; return 77; }
    have c++ || install_packages g++
}

ahead_fuzz() { need_fuzz && fuzz_build; }

part_fuzz() {
    need_fuzz || return
    local targets running=0 bad=0
    mapfile -t targets < <(sed -n 's/^mod \(.*\);/\1/p' fuzz/fuzz_targets/main.rs)
    ((${#targets[@]} > 0)) || return 1
    fuzz_build || return 1
    # One on each processor.
    local target
    for target in "${targets[@]}"; do
        if ((running == $(nproc))); then
            wait -n || bad=1
            running=$((running - 1))
        fi
        fuzz_target "$target" >"$LOGS/fuzz-$target.log" 2>&1 &
        running=$((running + 1))
    done
    while ((running > 0)); do
        wait -n || bad=1
        running=$((running - 1))
    done
    for target in "${targets[@]}"; do cat "$LOGS/fuzz-$target.log"; done
    return $bad
}
