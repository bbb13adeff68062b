#!/usr/bin/env bash
# Wake-up latencies of takt wakeup and of cyclictest in turns, and the cost of causes: takt wakeup without and with --why, in turns.
# Needs root, cyclictest (Debian: rt-tests), jq, and an optimized takt (TAKT_BIN, or takt in the path). Times are in µs: one line for
# each turn, the medians of the turns, and the medians of the differences within each round, with the goals.
#
#   bench/wakeup.sh [ROUNDS [SECONDS [INTERVAL_US [CORE]]]]
set -euo pipefail
rounds=${1:-8} seconds=${2:-5} interval=${3:-250} core=${4:-1}
takt=${TAKT_BIN:-takt}
for tool in cyclictest jq "$takt"; do
    command -v "$tool" >/dev/null || { echo "bench/wakeup.sh: there is no $tool" >&2; exit 1; }
done
options=(--core "$core" --interval "${interval}us" --for "${seconds}s" --priority 80 --json)

of_cyclictest() {
    cyclictest --quiet --mlockall --priority 80 --affinity "$core" --threads 1 --interval "$interval" \
        --loops $((seconds * 1000000 / interval)) --histogram 20000 |
        awk '/^[0-9]+ [0-9]+/ { count[$1 + 0] = $2; sum += $2; if ($1 + 0 > last) last = $1 + 0 }
            END {
                for (time = 0; time <= last; time++) {
                    seen += count[time]
                    if (median == "" && seen * 2 >= sum) median = time
                    if (p99 == "" && seen * 100 >= sum * 99) p99 = time
                }
                print median, p99
            }'
}

of_takt() { "$takt" wakeup "${options[@]}" "$@" | jq -r 'select(.wakeUps) | "\(.medianNs / 1000) \(.p99Ns / 1000)"'; }

for ((round = 0; round < rounds; round++)); do
    # Each round has another order, so that none is always behind the same one.
    for ((turn = 0; turn < 3; turn++)); do
        case $(((round + turn) % 3)) in
        0) echo "cyclictest $(of_cyclictest)" ;;
        1) echo "takt $(of_takt)" ;;
        # No wake-up is late enough, so that the ring is only written.
        2) echo "takt-why $(of_takt --why --above 10min)" ;;
        esac
    done
done | tee /dev/stderr | awk '
    { n = ++count[$1]; median[$1, n] = $2; p99[$1, n] = $3 }
    function middle(values, name, i, j, swap) {
        for (i = 2; i <= count[name]; i++)
            for (j = i; j > 1 && values[name, j - 1] + 0 > values[name, j] + 0; j--) {
                swap = values[name, j]; values[name, j] = values[name, j - 1]; values[name, j - 1] = swap
            }
        return values[name, int((count[name] + 1) / 2)]
    }
    function larger(a, b) { return a > b ? a : b }
    function line(text, value, goal) { printf "%s: %.2f (goal: at most %.2f, %s)\n", text, value, goal, value <= goal ? "met" : "missed" }
    END {
        for (i = 1; i <= count["takt"]; i++) {
            cost[i] = median["takt-why", i] - median["takt", i]; costs["cost", i] = cost[i]
            off["off", i] = median["takt", i] - median["cyclictest", i]; off99["off", i] = p99["takt", i] - p99["cyclictest", i]
        }
        count["cost"] = count["off"] = count["takt"]
        names = split("cyclictest takt takt-why", name, " ")
        for (i = 1; i <= names; i++) {
            of[name[i]] = middle(median, name[i]); of99[name[i]] = middle(p99, name[i])
            print "median of", count[name[i]], "turns:", name[i], "median", of[name[i]], "p99", of99[name[i]]
        }
        line("takt beside cyclictest, median", middle(off, "off"), larger(1, of["cyclictest"] / 10))
        line("takt beside cyclictest, p99", middle(off99, "off"), larger(1, of99["cyclictest"] / 10))
        line("cost of --why, median", middle(costs, "cost"), 1)
    }'
