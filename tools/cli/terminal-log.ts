/** Where the log of `plinth start` goes: sentences to a terminal, JSON to whatever else reads it. */
export const terminalLog = () => ({
  write: (line: string) => void process.stdout.write(line),
  pretty: process.stdout.isTTY === true,
})
