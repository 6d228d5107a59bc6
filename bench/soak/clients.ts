import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { send } from '../closed-loop.ts'
import { type Client, type Mixed, nextOf } from './mix.ts'

/** Requests by kind. */
export type Counts = Map<string, number>

/** Clients that ask for the mix one after another until `isOver`; how many requests of each kind were answered. */
export async function soak(base: string, count: number, isOver: () => boolean): Promise<Counts> {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const counts: Counts = new Map()
  let fresh = 0
  const ask = async (mixed: Mixed): Promise<void> => {
    const { status, text } = await send(base, mixed.request, agent)
    const { method = 'GET', path } = mixed.request
    assert.equal(status, mixed.status, `${method} ${path} was answered ${status}: ${text.slice(0, 300)}`)
    counts.set(mixed.kind, (counts.get(mixed.kind) ?? 0) + 1)
    const next = mixed.follow?.(text)
    if (next) await ask(next)
  }
  const run = async (_: unknown, number: number): Promise<void> => {
    const client: Client = { below: randomBelow(number + 1), fresh: () => ++fresh }
    while (!isOver()) await ask(nextOf(client))
  }
  await Promise.all(Array.from({ length: count }, run))
  agent.destroy()
  return counts
}

/** Mulberry32: even enough, and the same in every run. */
function randomBelow(seed: number): Client['below'] {
  let state = seed * 0x9e3779b9
  return most => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most)
  }
}
