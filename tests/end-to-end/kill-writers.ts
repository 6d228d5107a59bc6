import { setTimeout as pause } from 'node:timers/promises'
import type { Server } from '../harness/server.ts'

export const TOKEN = 'full-killed-server-token-00000000000000'

export const PROJECT = `
name: Killed Server
server: { host: "\${HOST}", port: "\${PORT}" }
database: { url: "\${DATABASE_URL}" }
i18n: { locales: [en, fr], defaultLocale: en }
components:
  parts.word: { attributes: { text: { type: string, required: true }, of: { type: relation, relation: oneToOne, target: person } } }
contentTypes:
  person: { pluralApiId: people, attributes: { name: string } }
  article:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      stage: { type: string, localized: false }
      author: { type: relation, relation: manyToOne, target: person }
      readers: { type: relation, relation: manyToMany, target: person }
      words: { type: component, component: parts.word, repeatable: true }
      seal: { type: component, component: parts.word, localized: false }
apiTokens:
  full: { type: full-access, secret: ${TOKEN} }
`

/** The values of a document: the last written word of each locale, and the word that all share. */
export interface Reported {
  readonly words: Readonly<Record<string, string>>
  readonly shared: string
}

/** A write that was begun and not answered: it may have been done. */
interface Doubtful {
  /** null: a document that was being made. */
  readonly documentId: string | null
  /** null: gone. */
  readonly reported: Reported | null
}

export interface Writers {
  /** The acknowledged writes, by documentId. */
  readonly acknowledged: ReadonlyMap<string, Reported>
  readonly doubtful: readonly Doubtful[]
  /** How many writes were acknowledged. */
  readonly count: number
}

type Row = Readonly<Record<string, unknown>>

export async function send(server: Pick<Server, 'base'>, method: string, path: string, data?: unknown) {
  const answer = await fetch(server.base + path, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
    signal: AbortSignal.timeout(120_000),
  })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Row }
}

/** All that a write with a word sets, each part with the word in it. */
export const valuesOf = (word: string, people: readonly string[]) => ({
  title: word,
  stage: word,
  author: people[word.length % people.length],
  readers: word.length % 2 === 0 ? people : people.slice(1),
  words: [{ text: `${word} one`, of: people[0] }, { text: `${word} two` }],
  seal: { text: word, of: people[1] },
})

/** The people that articles link to. */
export async function makePeople(server: Pick<Server, 'base'>): Promise<readonly string[]> {
  const people: string[] = []
  for (const name of ['Ann', 'Bea', 'Cid']) {
    const { body } = await send(server, 'POST', '/api/people', { name })
    people.push(idIn(body))
  }
  return people
}

interface Writing {
  readonly server: Pick<Server, 'base'>
  readonly people: readonly string[]
  /** Called with the number of acknowledged writes after each. */
  readonly onWrite: (count: number) => void
  /** True if clients continue after 503 with another document; absent: an unanswered write ends them. */
  readonly goesOn?: () => boolean
}

/** Clients that write one after the other each, until all is written or the server is gone. */
export async function writeUntilGone(clients: number, most: number, writing: Writing): Promise<Writers> {
  const acknowledged = new Map<string, Reported>()
  const doubtful: Doubtful[] = []
  let count = 0
  /** Returns the client's next document; undefined: the answer does not identify it. */
  const write = async (step: Step): Promise<string | null | undefined> => {
    const answer = await perform(step, writing).catch((reason: unknown) => reason)
    if (writing.goesOn && !isAnswer(answer)) throw new Error(`no answer: ${String(answer)}`)
    if (!isAnswer(answer) || (writing.goesOn && answer.status === 503)) return undefined
    if (answer.status >= 300) throw new Error(JSON.stringify(answer))
    writing.onWrite(++count)
    if (step.reported !== null) return step.documentId ?? idIn(answer.body)
    acknowledged.delete(String(step.documentId))
    return null
  }
  const client = async (number: number): Promise<void> => {
    let last: string | null = null
    for (let turn = 0; count < most && writing.goesOn?.() !== false; turn++) {
      const step: Step = nextStep(turn, `${'x'.repeat(turn % 5)}${number}-${turn}`, last, acknowledged)
      const written = await write(step)
      if (written === undefined) doubtful.push(step)
      if (written === undefined && !writing.goesOn) return
      if (written === undefined) await pause(50)
      last = written ?? null
      if (last !== null && step.reported !== null) acknowledged.set(last, step.reported)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return { acknowledged, doubtful, count }
}

type Step = Doubtful & { readonly word: string; readonly locale: string }

/** A document is made, changed, translated and changed again; each other one is deleted. */
function nextStep(
  turn: number,
  word: string,
  documentId: string | null,
  acknowledged: Writers['acknowledged'],
): Step {
  const before = documentId === null ? undefined : acknowledged.get(documentId)
  const phase = turn % 10
  const isNew = before === undefined || phase === 0 || phase === 5
  if (!isNew && phase === 9) return { documentId, reported: null, word, locale: '*' }
  const locale = !isNew && (phase === 2 || phase === 7) ? 'fr' : 'en'
  const words = { ...(isNew ? {} : before.words), [locale]: word }
  return { documentId: isNew ? null : documentId, reported: { words, shared: word }, word, locale }
}

function perform({ documentId, reported, word, locale }: Step, { server, people }: Writing) {
  if (documentId === null) return send(server, 'POST', '/api/articles', valuesOf(word, people))
  const path = `/api/articles/${documentId}?locale=${locale}`
  if (reported === null) return send(server, 'DELETE', path)
  return send(server, 'PUT', path, valuesOf(word, people))
}

const isAnswer = (value: unknown): value is Awaited<ReturnType<typeof send>> =>
  typeof value === 'object' && value !== null && 'status' in value

const idIn = ({ data }: Row): string => String((data as Row).documentId)
