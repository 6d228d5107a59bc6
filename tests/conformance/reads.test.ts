import { resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { type Answer, type Server, startServer } from '../harness/server.ts'
import { fill, isObject, type Json, readCases, type Step } from './replay/case.ts'
import { judge, normalise, type Seen, type Verdict } from './replay/compare.ts'
import { type Phase, phasesOf } from './replay/phase.ts'
import { toContent } from './replay/world.ts'

// The recorded cases prepare by writing. Here what they write becomes documents under content/, and what they
// then read is compared, as run.mjs does it. Their writes themselves, and what follows from finer ones
// (a draft that differs from its published version, a deleted locale), are not for this test.
const replays = readCases('rest')
  .map(recorded => ({ recorded, phases: phasesOf(recorded).map(onlyPossible) }))
  .filter(({ phases }) => phases.some(phase => phase.reads.length > 0))

/** Without sign-in, and users and uploads have no addresses; documents loaded together have the same age. */
function onlyPossible(phase: Phase): Phase {
  const isPossible = ({ id, request }: Step): boolean =>
    !['editor', 'user', 'blocked'].includes(request.as ?? '') &&
    !/^\/api\/(users|upload|auth|i18n)|^\$\{/.test(request.path) &&
    id !== 'createdAt'
  return { ...phase, reads: phase.reads.filter(isPossible) }
}

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
    const answers: Judged[] = []
    for (const phase of phases) answers.push(...(await replay(phase)))
    for (const { step, path } of answers.filter(({ verdict }) => verdict === 'words')) {
      t.log(`${step}: only the words differ, ${path}`)
    }
    t.deepEqual(answers.filter(({ verdict }) => verdict === 'differs').map(differing), [])
  })
}

interface Judged {
  readonly step: string
  readonly path: string
  readonly verdict: Verdict
  readonly want: Seen
  readonly seen: Seen
}

const differing = ({ step, path, want, seen }: Judged) => ({
  step,
  path,
  want: JSON.stringify(want).slice(0, 1000),
  seen: JSON.stringify(seen).slice(0, 1000),
})

async function replay(phase: Phase): Promise<readonly Judged[]> {
  const variables = new Map(phase.variables)
  for (const { variable, path, at } of phase.later) {
    variables.set(variable, valueAt((await read({ method: 'GET', path }, variables)).body as Json, at))
  }
  for (const step of phase.before) capture(step, await read(step.request, variables), variables)
  const judged: Judged[] = []
  for (const step of phase.reads) {
    const answer = await read(step.request, variables)
    capture(step, answer, variables)
    if (step.expect) judged.push(compare(step, step.expect, answer, variables))
  }
  return judged
}

function compare(step: Step, want: Seen, answer: Answer, variables: ReadonlyMap<string, Json>): Judged {
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
  const path = String(fill(step.request.path, variables))
  return { step: step.id ?? '', path, verdict: judge(want, seen, step.compare), want, seen }
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
  return who.startsWith('Bearer ') ? who : `Bearer ${TOKENS[who] ?? who}`
}

const TOKENS: Readonly<Record<string, string>> = {
  full: 'full-conformance-token-0000000000000000',
  read: 'read-conformance-token-0000000000000000',
  custom: 'custom-conformance-token-00000000000000',
  expired: 'expired-conformance-token-0000000000000',
}
