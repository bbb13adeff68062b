# shellcheck shell=bash
# Programs, packages and disk space that the parts of `./test` need; to be sourced by bash after common.sh.

need_python() {
    local python=""
    for candidate in python3 python3.13 python3.12 python3.11; do
        if have "$candidate" && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            python=$candidate
            break
        fi
    done
    if [[ -z $python ]]; then
        install_packages python3 python3-venv
        python=python3
    fi
    "$python" -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
    # Each library has packages of its own.
    local folder wanted
    for folder in asyncua:venv python-opcua:python-opcua; do
        wanted=peers/${folder%:*}/requirements.txt
        folder=$CACHE/${folder#*:}
        if ! cmp -s "$wanted" "$folder/installed.txt"; then
            rm -rf "$folder"
            "$python" -m venv "$folder"
            "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
            cp "$wanted" "$folder/installed.txt"
        fi
    done
}

need_node() {
    have node || install_packages nodejs
    at_least "$(node --version | tr -d v)" 18 ||
        die "node $(node --version) is too old; node-opcua needs 18" "install a newer Node.js"
    have npm || install_packages npm
    local lock=peers/node/package-lock.json
    if ! cmp -s "$lock" peers/node/node_modules/.installed.json; then
        (cd peers/node && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
        cp "$lock" peers/node/node_modules/.installed.json
    fi
}

# gopcua is built with Go; the versions of Debian 12 and older are too old.
need_go() {
    local wanted found
    wanted=$(sed -n 's/^go //p' peers/gopcua/go.mod)
    have go || install_packages golang-go
    found=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//')
    at_least "$found" "$wanted" || die "Go $found is too old; gopcua needs $wanted" "install a newer Go: https://go.dev/doc/install"
    mkdir -p "$CACHE/gopcua"
    (cd peers/gopcua && GOTOOLCHAIN=local go build -mod=readonly -o "$CACHE/gopcua/gopcua")
}

# Milo is fetched by Maven and compiled against by javac.
need_java() {
    local wanted=17 found
    have javac || install_packages default-jdk-headless
    found=$(javac -version 2>&1 | cut -d ' ' -f 2)
    at_least "$found" "$wanted" || die "Java $found is too old; Milo needs $wanted" "install a newer JDK (Debian 12: openjdk-17-jdk-headless)"
    local folder=$CACHE/milo
    if ! cmp -s peers/milo/pom.xml "$folder/installed.xml"; then
        have mvn || install_packages maven
        rm -rf "$folder"
        mvn --quiet --batch-mode --strict-checksums --file peers/milo/pom.xml dependency:copy-dependencies "-DoutputDirectory=$folder/lib"
        cp peers/milo/pom.xml "$folder/installed.xml"
    fi
    rm -rf "$folder/classes"
    javac -encoding UTF-8 -Xlint:all -Werror -cp "$folder/lib/*" -d "$folder/classes" peers/milo/src/*.java
}

# Wireshark's dissector is tested with Wireshark without its windows.
need_tshark() {
    have tshark || install_packages tshark
}

# open62541 is C, built with cmake; its bindings are generated with libclang.
need_open62541() {
    have cmake || install_packages cmake
    have c++ || install_packages g++
    have python3 || install_packages python3
    # Not libclang-cpp, which other packages bring.
    compgen -G '/usr/lib/llvm-*/lib/libclang[.-][s0-9]*' >/dev/null ||
        compgen -G '/usr/lib/*/libclang[.-][s0-9]*' >/dev/null ||
        [[ -n ${LIBCLANG_PATH:-} ]] || install_packages libclang-dev
}

# The source package of the kernel and the programs that build it.
need_kernel() {
    compgen -G '/usr/src/linux-source-6.*.tar.xz' >/dev/null || install_packages linux-source-6.12
    have flex || install_packages flex
    have bison || install_packages bison
    have bc || install_packages bc
    have make || install_packages make
    have gcc || install_packages gcc
    have perl || install_packages perl
    have xz || install_packages xz-utils
    have tc || install_packages iproute2
    have setpriv || install_packages util-linux
    [[ -x /usr/bin/linux.uml ]] || install_packages user-mode-linux
}

# A broker, its clients, and what makes certificates for it.
need_mosquitto() {
    have mosquitto || [[ -x /usr/sbin/mosquitto ]] || install_packages mosquitto
    have mosquitto_sub || install_packages mosquitto-clients
    have openssl || install_packages openssl
}

# A disk that fills up half way is reported as something else by every tool.
need_space() {
    local free
    free=$(df --output=avail --block-size=1G "$LOGS" | tail -n 1)
    ((free >= SPACE)) || [[ -d $TARGET/debug ]] ||
        die "$free GB are free here; a first run of the tests takes $SPACE GB" "make room, or set CARGO_TARGET_DIR to a folder on another disk"
}
