# shellcheck shell=bash
# Counts, times and failures in the logs of `./test`; to be sourced by bash.

# Seconds in which one processor had nothing to do, of all processors, since the start of the system.
idle_seconds() { awk -v hertz="$(getconf CLK_TCK)" '$1 == "cpu" { print int(($5 + $6) / hertz) }' /proc/stat; }

# Seconds of processor time in files that `times` wrote; 0 for a file that does not exist. FILE...
processor_seconds() {
    { cat "$@" 2>/dev/null || true; } | tr ' ' '\n' | awk -F '[ms]' 'NF > 1 { sum += $1 * 60 + $2 } END { print int(sum) }'
}

# Adds up the `test result:` lines of a log, and prints how many passed, failed and were ignored.
sum_results() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
        /^test result: / {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) p += $(i - 1)
                if ($i ~ /^failed/) f += $(i - 1)
                if ($i ~ /^ignored/) s += $(i - 1)
            }
        }
        END { print p + 0, f + 0, s + 0 }'
}

# The test executables of all logs that took longest, as cargo test names them. sed reads to the end, unlike head: a command that
# writes to a reader that has ended would end this script.
show_slowest() {
    local log
    for log in "$@"; do
        sed 's/\x1b\[[0-9;]*m//g' "$log" | awk '
            / Running / { name = $0; sub(/^ *Running (unittests )?/, "", name); sub(/ \(.*\/deps\//, " (", name) }
            / Doc-tests / { name = "doc tests of " $NF }
            /^test result: .*finished in / { seconds = $NF; sub(/s$/, "", seconds); printf "%8.1f s   %s\n", seconds, name }'
    done | sort -rn | sed -n 1,10p
}

# What a failed part's log says of it: the failed tests with what they printed, else its last lines.
show_failure() {
    printf '\n---- %s\n' "$1"
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
        /^failures:$/ { shown = 1; any = 1 }
        shown || /^error/ { print substr($0, 1, 400); any = 1 }
        /^test result: / { shown = 0 }
        { last[NR % 30] = substr($0, 1, 400) }
        END { if (!any) for (i = 1; i <= 30; i++) print last[(NR + i) % 30] }' | sed -n 1,150p
}
