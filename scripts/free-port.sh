# To be sourced by the scripts of this folder.
# shellcheck shell=bash

# free_port: prints a port of 127.0.0.1 on which nothing listens, below those that systems choose for connections that go out.
free_port() {
  node -e '
    const look = () => {
      const port = 10_000 + Math.floor(Math.random() * 22_768)
      const probe = require("node:net").createServer()
      probe.once("error", look).listen(port, "127.0.0.1", () => { console.log(port); probe.close() })
    }
    look()'
}
