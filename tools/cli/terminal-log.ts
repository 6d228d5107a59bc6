/** The log of `plinth start`: sentences on a terminal, JSON for other outputs. */
export const terminalLog = () => ({
  write: (line: string) => void process.stdout.write(line),
  pretty: process.stdout.isTTY === true,
})
