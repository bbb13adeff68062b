# shellcheck shell=bash
# The parts of `./test`, and which of them a change needs; to be sourced by bash from the repository's root.

# Name, where it belongs, seconds from a clean clone on two processors without other parts, purpose.
# `test`: each change must pass it. `all`: it compiles everything once more, or takes patience.
readonly PARTS=(
    "format       test    10 rustfmt agrees with every line"
    "lint         test   190 clippy finds nothing, in any crate and target"
    "generated    test    40 the generated files are what cargo xtask generate writes"
    "unit         test   650 unit tests of all crates, and end-to-end tests on the real binaries"
    "interop      test   500 foreign clients, servers and brokers: asyncua, python-opcua, async-opcua, gopcua, Milo, node-opcua, open62541, mosquitto"
    "lab          test    30 every queueing discipline as Takt configures it, on Debian's ready-made kernel"
    "docs         test    60 rustdoc finds nothing to complain about"
    "deny         test    20 licences, duplicates and sources of all dependencies; advisories if their database can be reached"
    "patience     all    480 end-to-end tests that take their time: attacks, crashes, many Providers, a limit of memory, endurance"
    "miri         all    230 shared memory, cells, channels and encoders under Miri, also for aarch64 (needs a nightly toolchain)"
    "loom         all    150 every interleaving of the lock-free cells' models"
    "instructions all    250 the hot paths take no more instructions than they may, counted by callgrind"
    "tutorial     all    500 the commands of tutorial and README, from a clean clone"
    "fuzz         all    600 every fuzz target for a few seconds (needs a nightly toolchain)"
    "middleware   all    450 takt bench: its tests, and the comparison of middleware with all required peers: open62541, MQTT, DDS, ROS 1, Takt (builds them once)"
    "aarch64      all    400 on aarch64, emulated by qemu: crates with unsafe code, transports, registry with Provider and Consumer"
    "kernel       all    800 scenarios on the lab's own kernel: agreement with the simulator, repeats (builds the kernel once)"
    "soak         all    750 ten minutes of stalls, cuts, restarts, clock jumps and killed clients, after which all values are true"
)

# Files that belong to every part: how it is run, and all that it compiles. The commit that passed all parts says nothing about them.
readonly EVERYWHERE=(test .ci ':!.ci/verified' Cargo.toml Cargo.lock .cargo rust-toolchain.toml)

# Files and folders that a part tests, as git's pathspecs, one in a line. NAME
files_of() {
    local crates
    case $1 in
        format) printf '%s\n' '*.rs' ;;
        lint) printf '%s\n' '*.rs' '*Cargo.toml' clippy.toml ;;
        generated) printf '%s\n' xtask crates/takt-nodeset crates/takt-ua crates/takt-space nodesets ;;
        # The repository's own tests read all of it.
        unit) printf '%s\n' . ;;
        interop) printf '%s\n' crates tests peers nodesets docs/interoperability.md ':!peers/middleware' ;;
        lab | kernel)
            crates=(takt takt-analysis takt-calculus takt-capture takt-control takt-lab takt-link takt-pubsub takt-report takt-rt
                takt-scenario takt-sim takt-tsn takt-wire)
            printf 'crates/%s\n' "${crates[@]}"
            printf '%s\n' scenarios tests
            ;;
        docs) printf '%s\n' '*.rs' '*Cargo.toml' ;;
        deny) printf '%s\n' deny.toml '*Cargo.toml' '*Cargo.lock' ;;
        soak) printf '%s\n' crates tests/src tests/tests/patience ;;
        patience) printf '%s\n' crates tests bench/attack ;;
        miri) printf '%s\n' crates/takt-{cell,layout,rt,shm,ua} ;;
        loom) printf '%s\n' crates/takt-{cell,rt,shm} ;;
        instructions) printf '%s\n' crates/takt-{app,cell,client,crypto,layout,pubsub,rt,services,shm,space,tcp,ua,wire} tests/instructions ;;
        tutorial) printf '%s\n' crates examples README.md docs/tutorial.md tests/src ;;
        fuzz) printf '%s\n' crates fuzz ;;
        middleware) printf '%s\n' bench peers/middleware peers/open62541 crates/takt-{app,client,link,pubsub,shm,tcp,services} ;;
        aarch64) printf '%s\n' crates/takt-{cell,link,malloc,rt,shm,tcp,ua} ;;
    esac
}

# The row of a part. NAME
row_of() {
    local row
    for row in "${PARTS[@]}"; do
        if [[ ${row%% *} == "$1" ]]; then
            printf '%s\n' "$row"
            return
        fi
    done
    die "no part is named '$1'" "./test --list names them"
}

# Seconds that a part takes. NAME
seconds_of() { row_of "$1" | awk '{ print $3 }'; }

# Names of the parts that belong to `test` or `all`. PLACE...
parts_of() {
    local place
    for place in "$@"; do printf '%s\n' "${PARTS[@]}" | awk -v place="$place" '$2 == place { print $1 }'; done
}

# Succeeds if files of a part differ from those of a commit; also if there is no such commit here. NAME COMMIT
has_changed() {
    local files
    mapfile -t files < <(files_of "$1")
    ! git rev-parse --quiet --verify "$2^{commit}" >/dev/null || ! git diff --quiet "$2" -- "${EVERYWHERE[@]}" "${files[@]}"
}

# Those of the named parts whose files differ from those of a commit. COMMIT NAME...
changed_parts() {
    local commit=$1 name
    shift
    for name in "$@"; do
        if has_changed "$name" "$commit"; then echo "$name"; fi
    done
}
