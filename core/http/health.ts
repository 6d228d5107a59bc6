import type { Responder } from '../faults/exchange.ts'

/** `/_health`: the process lives. `/_ready`: it can answer, for its database does; balancers send nothing here else. */
export function openHealth(isReady: () => Promise<boolean>): Responder {
  return ({ path, method }) => {
    if (method !== 'GET' && method !== 'HEAD') return null
    if (path === '/_health') return { status: 204, body: null }
    return path === '/_ready' ? answerReady(isReady) : null
  }
}

async function answerReady(isReady: () => Promise<boolean>) {
  const ready = await isReady().catch(() => false)
  return ready
    ? { status: 200, body: '{"status":"ready"}', headers: NEVER_STORED }
    : { status: 503, body: '{"status":"unavailable"}', headers: NEVER_STORED }
}

const NEVER_STORED = { 'Cache-Control': 'no-store' }
