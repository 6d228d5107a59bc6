import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { type Answer, type Server, startServer } from '../harness/server.ts'
import { type Case, fill, isObject, type Json, readCases, type Step } from './replay/case.ts'
import { judge, normalise, type Seen } from './replay/compare.ts'
import { type Phase, phasesOf } from './replay/phase.ts'
import { toContent } from './replay/world.ts'

// The recorded cases prepare by writing. Here what they write becomes documents under content/, and what they
// then read is compared, as run.mjs does it. Their writes themselves, and what follows from finer ones
// (a draft that differs from its published version, a deleted locale), are not for this test.
const replays = readCases('rest')
  .filter(({ name }) => !/rest\/(43|72|74|80)/.test(name))
  .map(recorded => ({ recorded, phases: phasesOf(recorded) }))
  .filter(({ phases }) => phases.some(phase => phase.reads.length > 0))

const folder = temporaryFolder(resolve(import.meta.dirname, 'project'))
let server: Server

test.before(async () => {
  const worlds = replays.flatMap(({ phases }) => phases.map(phase => phase.world))
  for (const [name, text] of toContent(worlds)) folder.write(name, text)
  for (const { files } of worlds)
    for (const [name, bytes] of files) folder.write(`content/media/${name}`, bytes)
  server = await startServer({ project: folder.path })
})

test.after.always(async () => {
  await server?.stop()
  folder.remove()
})

for (const { recorded, phases } of replays) {
  test.serial(`${recorded.name}: ${recorded.about}`, async t => {
    for (const phase of phases) await replay(t, recorded, phase)
  })
}

async function replay(t: ExecutionContext, recorded: Case, phase: Phase): Promise<void> {
  const variables = new Map(phase.variables)
  for (const { variable, path, at } of phase.later) {
    variables.set(variable, valueAt((await read({ method: 'GET', path }, variables)).body as Json, at))
  }
  for (const step of phase.before) capture(step, await read(step.request, variables), variables)
  for (const step of phase.reads) {
    const answer = await read(step.request, variables)
    capture(step, answer, variables)
    if (step.expect)
      compare(t, `${recorded.name} ${step.id} GET ${step.request.path}`, step, answer, variables)
  }
}

function compare(
  t: ExecutionContext,
  title: string,
  step: Step,
  answer: Answer,
  variables: Map<string, Json>,
): void {
  const want: Seen = step.expect as Seen
  const headers = Object.fromEntries(
    (step.compareHeaders ?? []).map(name => [name, answer.headers.get(name)]),
  )
  const body =
    typeof answer.body === 'string' ? { '<text>': answer.body.slice(0, 300) } : (answer.body as Json)
  const seen: Seen = {
    status: answer.status,
    ...(step.compareHeaders ? { headers } : {}),
    body: normalise(body, namesOf(variables)),
  }
  const verdict = judge(want, seen, step.compare)
  if (verdict === 'words') t.log(`${title}: only the words differ`)
  if (verdict === 'differs') t.deepEqual(seen, want, title)
  else t.pass()
}

function namesOf(variables: ReadonlyMap<string, Json>): ReadonlyMap<string, string> {
  const names = new Map([[String(variables.get('run')), '<run>']])
  for (const [name, value] of variables) if (isCaptured(name, value)) names.set(value, `<${name}>`)
  return names
}

/** A case's own vars are no captures: they hold queries, not ids. */
const isCaptured = (name: string, value: Json): value is string =>
  name !== 'run' && typeof value === 'string' && /^[a-z][a-z0-9]{23}$/.test(value)

function capture(step: Step, answer: Answer, variables: Map<string, Json>): void {
  for (const [name, at] of Object.entries(step.capture ?? {}))
    variables.set(name, valueAt(answer.body as Json, at))
}

const valueAt = (body: Json, dotted: string): Json =>
  dotted
    .split('.')
    .reduce<Json>(
      (value, key) =>
        isObject(value) || Array.isArray(value) ? ((value as Record<string, Json>)[key] ?? null) : null,
      body,
    )

function read(request: Step['request'], variables: ReadonlyMap<string, Json>): Promise<Answer> {
  const path = String(fill(request.path, variables))
  const token = identify(String(fill(request.as ?? 'full', variables)))
  return server.get(path, { ...(token ? { authorization: token } : {}), ...(request.headers ?? {}) })
}

function identify(who: string): string | null {
  if (who === 'none') return null
  if (who.startsWith('Bearer ')) return who
  const user = USERS[who]
  return user ? `Bearer ${signedToken(user)}` : `Bearer ${TOKENS[who] ?? who}`
}

const TOKENS: Readonly<Record<string, string>> = {
  full: 'full-conformance-token-0000000000000000',
  read: 'read-conformance-token-0000000000000000',
  custom: 'custom-conformance-token-00000000000000',
  expired: 'expired-conformance-token-0000000000000',
}

/** Numeric ids in the order of project/content/users.yaml. */
const USERS: Readonly<Record<string, number>> = { editor: 1, user: 2, blocked: 3 }

function signedToken(id: number): string {
  const now = Math.floor(Date.now() / 1000)
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ id, iat: now, exp: now + 3600 })}`
  return `${text}.${createHmac('sha256', 'conformance-jwt-secret-conformance-jwt-secret').update(text).digest('base64url')}`
}
