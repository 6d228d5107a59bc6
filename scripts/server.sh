# To be sourced by the scripts of this folder: runs Plinth in the background, on loopback.
# Each background job gets a process group, so that nothing of it is left behind.
# shellcheck shell=bash
set -m
# shellcheck source=scripts/free-port.sh
. "$(dirname "${BASH_SOURCE[0]}")/free-port.sh"

# wait_ready PID PORT LOG: until /_ready answers 200. Fails when the process ends or five minutes are over: the cores may be busy.
wait_ready() {
  node -e '
    const [pid, port] = process.argv.slice(1).map(Number)
    const end = Date.now() + 300_000
    const look = async () => {
      const ok = await fetch(`http://127.0.0.1:${port}/_ready`).then(answer => answer.ok, () => false)
      if (ok) process.exit(0)
      try { process.kill(pid, 0) } catch { process.exit(1) }
      if (Date.now() > end) process.exit(1)
      setTimeout(look, 20)
    }
    look()' "$1" "$2" || { echo "The server did not start:"; tail -n 40 "$3"; return 1; }
}

# stop_server PID: by SIGTERM; answers its exit code, 1 where it had to be killed.
stop_server() {
  kill -TERM "$1" 2>/dev/null || return 1
  (sleep 20; kill -KILL "$1" 2>/dev/null) &
  local patience=$! code=0
  wait "$1" || code=$?
  kill -- "-$patience" 2>/dev/null || true
  wait "$patience" 2>/dev/null || true
  kill -KILL -- "-$1" 2>/dev/null || true
  return "$code"
}
