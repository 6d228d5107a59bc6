import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FoundRegex, findRegexes } from './regexes.ts'

// Refuses regular expressions of the product that can take more than linear time: `npm run regexes`. The checker is
// slow, and what it finds by trying depends on the time that it has, so expressions found safe are recorded in
// safe-regexes.json and an expression without a record is refused. `-- --write` checks those and records them,
// `-- --all` checks all.
process.env.RECHECK_BACKEND = 'pure'
process.env.RECHECK_SYNC_BACKEND = 'pure'

const RECORD = join(import.meta.dirname, 'safe-regexes.json')

/** What the checker cannot see, or what no client can use. */
const EXCEPTIONS: readonly { readonly file: string; readonly code: string; readonly reason: string }[] = [
  {
    file: 'core/graphql/text/text-operation.ts',
    code: 'new RegExp(`"(?:${[...promised].join(\'|\')})":null`)',
    reason: 'alternatives of names, without repetition: linear',
  },
  {
    file: 'core/migrate/plan-steps.ts',
    code: 'new RegExp(`^${kind} \\`(.+)\\`$`)',
    reason: 'anchored, a word of the program and one repetition: linear',
  },
  {
    file: 'core/project/pattern.ts',
    code: 'new RegExp(source)',
    reason:
      'an expression of project.yaml: run as it is where it is simple, else on RE2 or against the clock',
  },
  {
    file: 'core/model/check/attribute-options.ts',
    code: 'new RegExp(pattern)',
    reason: 'compiled to see whether it can be; nothing is matched',
  },
]

const isExcepted = ({ file, code }: FoundRegex): boolean =>
  EXCEPTIONS.some(exception => exception.file === file && exception.code === code)

const keyOf = ({ pattern }: FoundRegex): string => `/${pattern?.source}/${pattern?.flags}`

interface Judged {
  readonly safe: readonly string[]
  readonly faults: readonly string[]
}

async function judge(regexes: readonly FoundRegex[], recorded: ReadonlySet<string>): Promise<Judged> {
  const safe = new Set<string>()
  const faults: string[] = []
  for (const regex of regexes) {
    const key = keyOf(regex)
    if (isExcepted(regex) || safe.has(key)) continue
    const fault = recorded.has(key) ? null : await faultOf(regex)
    if (fault === null) safe.add(key)
    else faults.push(`${regex.place} ${regex.code.slice(0, 120)}: ${fault}`)
  }
  return { safe: [...safe].toSorted(), faults: [...faults, ...unusedExceptions(regexes)] }
}

const unusedExceptions = (regexes: readonly FoundRegex[]): readonly string[] =>
  EXCEPTIONS.filter(({ file, code }) => !regexes.some(each => each.file === file && each.code === code)).map(
    ({ file, code }) => `${file}: there is no expression ${code}: remove the exception`,
  )

/** Milliseconds for one expression: what takes longer is to be written more simply. */
const PATIENCE = 60_000

async function faultOf({ pattern }: FoundRegex): Promise<string | null> {
  if (pattern === null) return 'it is put together at run time: name it in EXCEPTIONS, with a reason'
  if (!checks) return 'it has no record: check it by `npm run regexes -- --write`'
  const { checkSync } = await import('recheck')
  const found = checkSync(pattern.source, pattern.flags, { timeout: PATIENCE, randomSeed: 1 })
  if (found.status === 'safe') return null
  if (found.status === 'unknown') return `it cannot be judged (${found.error.kind}): write it more simply`
  return `${found.complexity.summary} time, as for ${JSON.stringify(found.attack.string.slice(0, 60))}`
}

const options = new Set(process.argv.slice(2))
const checks = options.has('--all') || options.has('--write')
const regexes = findRegexes()
const recorded: readonly string[] = options.has('--all') ? [] : JSON.parse(readFileSync(RECORD, 'utf8'))
const { safe, faults } = await judge(regexes, new Set(recorded))
if (options.has('--write')) writeFileSync(RECORD, `${JSON.stringify(safe, null, 2)}\n`)
for (const fault of faults) console.error(fault)
console.log(`${regexes.length} regular expressions, ${faults.length} of them faulty`)
process.exitCode = faults.length > 0 ? 1 : 0
