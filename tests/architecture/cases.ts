import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '..', 'conformance')

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

interface Step {
  /** Preparing steps may have none. */
  readonly id?: string
  readonly request: { readonly body?: Json }
  readonly expect?: { readonly body: Json }
}

/** Texts that cases send as values, and the names of their steps; short ones and single words say nothing. */
export function caseValues(): ReadonlySet<string> {
  const sent = steps().flatMap(step => [step.id ?? '', ...textsOf(step.request.body ?? null)])
  return new Set(sent.filter(text => text.length >= 8 && /[^A-Za-z]/.test(text) && !isPlain(text)))
}

/** Expected messages that name something which only the conformance project declares. */
export function caseMessages(): ReadonlySet<string> {
  const own = namesOfProject()
  const messages = steps().flatMap(step => messagesOf(step.expect?.body ?? null))
  return new Set(messages.filter(message => (message.match(/\w+/g) ?? []).some(word => own.has(word))))
}

/** Values that any code may have: words with hyphens, media types, stamps, uids of permissions. */
const isPlain = (text: string): boolean => /^[a-z]+(-[a-z]+)*$|^[a-z]+\/[\w.+-]+$|^\d|^plugin::/.test(text)

function steps(): readonly Step[] {
  const cases = join(folder, 'cases')
  return readdirSync(cases, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .flatMap(file => (JSON.parse(readFileSync(join(cases, file), 'utf8')) as { steps: Step[] }).steps)
}

/** Keys of the project's types and attributes that are no words of ordinary messages. */
function namesOfProject(): ReadonlySet<string> {
  const text = readFileSync(join(folder, 'project', 'project.yaml'), 'utf8')
  const keys = [...text.matchAll(/^ {2,8}([A-Za-z]+):/gm)].map(match => match[1] ?? '')
  return new Set(keys.filter(key => !ORDINARY.has(key)))
}

const ORDINARY: ReadonlySet<string> = new Set([
  ...['id', 'name', 'email', 'content', 'label', 'text', 'url', 'code', 'stamp', 'day', 'at', 'kind', 'body'],
  ...['attributes', 'config', 'type', 'full', 'read', 'custom', 'expired', 'permissions', 'authenticated'],
])

function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : []
}

function messagesOf(value: Json): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]) =>
    key === 'message' && typeof child === 'string' ? [child] : messagesOf(child),
  )
}
