import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems choose for connections that go out (Linux: from 32768): such a port is still free when the server
// that it is chosen for starts, though other tests connect to theirs meanwhile.
const FIRST = 10_000
const END = 32_768

/** The first of `count` consecutive ports of 127.0.0.1 on which nothing listens. */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (END - FIRST - count))
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)))
    if (free.every(Boolean)) return first
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  await once(probe.close(), 'close')
  return true
}
