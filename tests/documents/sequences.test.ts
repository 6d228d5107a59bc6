import test, { type ExecutionContext } from 'ava'
import { openRandom } from '../harness/random.ts'
import { modelOf } from '../model/compiled.ts'
import { openWriting, type Row, type Writing } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  song:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      shared: { type: string, localized: false }
      mate: { type: relation, relation: oneToOne, target: band, inversedBy: mateOf }
      tags: { type: relation, relation: manyToMany, target: band, inversedBy: songs }
  band:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      shared: { type: string, localized: false }
      mateOf: { type: relation, relation: oneToOne, target: song, mappedBy: mate }
      songs: { type: relation, relation: manyToMany, target: song, mappedBy: tags }
`)

const STATUSES = ['draft', 'published'] as const
const LOCALES = ['en', 'fr'] as const
type Status = (typeof STATUSES)[number]
type Locale = (typeof LOCALES)[number]
type Kind = 'song' | 'band'

interface Version {
  title: string | null
  mate: string | null
  tags: Set<string>
}

interface Doc {
  readonly kind: Kind
  readonly shared: Map<Status, string | null>
  readonly versions: Map<string, Version>
}

const at = (status: Status, locale: Locale) => `${status}/${locale}`

/** The expected state in its simplest form: links belong to songs, one set for each version. */
class Expected {
  readonly docs = new Map<string, Doc>()

  has(id: string, status: Status, locale: Locale): boolean {
    return this.docs.get(id)?.versions.has(at(status, locale)) === true
  }

  versionOf(id: string, status: Status, locale: Locale): Version | undefined {
    return this.docs.get(id)?.versions.get(at(status, locale))
  }

  songs(): string[] {
    return [...this.docs].flatMap(([id, { kind }]) => (kind === 'song' ? [id] : []))
  }

  /** A song takes a band for itself within one status and locale. */
  mate(song: string, band: string | null, status: Status, locale: Locale): void {
    for (const other of this.songs()) {
      const version = this.versionOf(other, status, locale)
      if (version && band !== null && version.mate === band) version.mate = null
    }
    const version = this.versionOf(song, status, locale)
    if (version) version.mate = band
  }

  write(id: string, locale: Locale, values: Given): void {
    const doc = this.docs.get(id)
    if (!doc) return
    const draft: Version = doc.versions.get(at('draft', locale)) ?? {
      title: null,
      mate: null,
      tags: new Set(),
    }
    doc.versions.set(at('draft', locale), draft)
    if (values.title !== undefined) draft.title = values.title
    if (values.shared !== undefined) doc.shared.set('draft', values.shared)
    if (values.mate !== undefined) this.mate(id, values.mate, 'draft', locale)
    if (values.tags !== undefined) draft.tags = new Set(values.tags)
    if (values.mateOf !== undefined) this.letGo(id, locale, values.mateOf)
    if (values.songs !== undefined)
      for (const song of this.songs()) this.tag(song, id, values.songs.includes(song), 'draft', locale)
  }

  letGo(band: string, locale: Locale, song: string | null): void {
    for (const other of this.songs()) {
      const version = this.versionOf(other, 'draft', locale)
      if (version?.mate === band) version.mate = null
    }
    if (song !== null) this.mate(song, band, 'draft', locale)
  }

  tag(song: string, band: string, tagged: boolean, status: Status, locale: Locale): void {
    const version = this.versionOf(song, status, locale)
    if (tagged) version?.tags.add(band)
    else version?.tags.delete(band)
  }

  copy(id: string, from: Status, to: Status, locale: Locale): void {
    const doc = this.docs.get(id)
    const source = this.versionOf(id, from, locale)
    if (!doc || !source) return
    doc.shared.set(to, doc.shared.get(from) ?? null)
    doc.versions.set(at(to, locale), { title: source.title, mate: null, tags: new Set(source.tags) })
    if (doc.kind === 'song') this.mate(id, source.mate, to, locale)
    else for (const song of this.songs()) this.align(song, id, { from, to, locale })
  }

  align(
    song: string,
    band: string,
    { from, to, locale }: { from: Status; to: Status; locale: Locale },
  ): void {
    const source = this.versionOf(song, from, locale)
    const target = this.versionOf(song, to, locale)
    if (!target) return
    if (source?.mate === band) this.mate(song, band, to, locale)
    else if (target.mate === band) target.mate = null
    this.tag(song, band, source?.tags.has(band) === true, to, locale)
  }

  remove(id: string, keys: readonly string[]): void {
    const doc = this.docs.get(id)
    if (!doc) return
    for (const key of keys) doc.versions.delete(key)
    if (![...doc.versions.keys()].some(key => key.startsWith('published'))) doc.shared.set('published', null)
    if (doc.versions.size > 0) return
    this.docs.delete(id)
    for (const song of this.songs()) {
      for (const version of this.docs.get(song)?.versions.values() ?? []) {
        if (version.mate === id) version.mate = null
        version.tags.delete(id)
      }
    }
  }

  seen(id: string, status: Status, locale: Locale): Row | null {
    const doc = this.docs.get(id)
    const version = this.versionOf(id, status, locale)
    if (!doc || !version) return null
    const own = { title: version.title, shared: doc.shared.get(status) ?? null }
    const there = (other: string | null): other is string => other !== null && this.has(other, status, locale)
    if (doc.kind === 'song')
      return {
        ...own,
        mate: there(version.mate) ? version.mate : null,
        tags: [...version.tags].filter(there).toSorted(),
      }
    const songs = this.songs().filter(there)
    return {
      ...own,
      mateOf: songs.find(song => this.versionOf(song, status, locale)?.mate === id) ?? null,
      songs: songs.filter(song => this.versionOf(song, status, locale)?.tags.has(id)).toSorted(),
    }
  }
}

interface Given {
  readonly title?: string
  readonly shared?: string
  readonly mate?: string | null
  readonly tags?: readonly string[]
  readonly mateOf?: string | null
  readonly songs?: readonly string[]
}

/** From 0, below 1. */
function randomFrom(seed: number): () => number {
  const below = openRandom(seed)
  return () => below(2 ** 32) / 2 ** 32
}

const idOf = (one: unknown): string | null => {
  const id = (one as Row | null)?.documentId
  return typeof id === 'string' ? id : null
}
const idsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.map(each => String(idOf(each))).toSorted() : []

function shown(kind: Kind, row: Row | null): Row | null {
  if (row === null) return null
  const { title, shared } = row
  if (kind === 'song') return { title, shared, mate: idOf(row.mate), tags: idsOf(row.tags) }
  return { title, shared, mateOf: idOf(row.mateOf), songs: idsOf(row.songs) }
}

async function compare(
  t: ExecutionContext,
  writing: Writing,
  expected: Expected,
  done: string,
): Promise<void> {
  for (const [id, { kind }] of expected.docs)
    for (const status of STATUSES)
      for (const locale of LOCALES) {
        const row = await writing.find(kind, id, { status, locale })
        const place = `${kind} ${id} ${status} ${locale} after\n${done}`
        t.deepEqual(shown(kind, row), expected.seen(id, status, locale), place)
      }
}

/** Steps of a sequence, and how many sequences there are; PLINTH_SEQUENCES=10 plays ten times as many. */
const STEPS = 400
const SEEDS = Array.from({ length: 3 * Number(process.env.PLINTH_SEQUENCES ?? 1) }, (_, index) => index + 1)

interface Play {
  readonly writing: Writing
  readonly expected: Expected
  readonly random: () => number
}

const pick = <Value>(list: readonly Value[], { random }: Play): Value =>
  list[Math.floor(random() * list.length)] as Value

function givenTo(kind: Kind, locale: Locale, play: Play): Given {
  const { expected, random } = play
  const others = [...expected.docs].flatMap(([id, doc]) =>
    doc.kind !== kind && expected.has(id, 'draft', locale) ? [id] : [],
  )
  const one = others.length > 0 && random() < 0.7 ? pick(others, play) : null
  const some = others.filter(() => random() < 0.4)
  const word = (letter: string) => `${letter}${Math.floor(random() * 1000)}`
  return {
    ...(random() < 0.5 ? { title: word('t') } : {}),
    ...(random() < 0.3 ? { shared: word('s') } : {}),
    ...(random() < 0.4 ? (kind === 'song' ? { mate: one } : { mateOf: one }) : {}),
    ...(random() < 0.4 ? (kind === 'song' ? { tags: some } : { songs: some }) : {}),
  }
}

/** One thing that is done to the database and to what is expected of it; answers it in words. */
type Step = (
  id: string,
  where: { readonly status: Status; readonly locale: Locale },
  play: Play,
) => Promise<string>

const kindOf = (id: string, { expected }: Play): Kind => expected.docs.get(id)?.kind ?? 'song'

const create: Step = async (_, { status, locale }, play) => {
  const { expected, writing } = play
  const kind: Kind = pick(['song', 'band'] as const, play)
  const values = givenTo(kind, locale, play)
  const id = String(idOf(await writing.create(kind, { ...values }, { status, locale })))
  expected.docs.set(id, { kind, shared: new Map(), versions: new Map() })
  expected.write(id, locale, values)
  if (status === 'published') expected.copy(id, 'draft', 'published', locale)
  return `create ${kind} ${id} ${status} ${locale} ${JSON.stringify(values)}`
}

const update: Step = async (id, { status, locale }, play) => {
  const { expected, writing, random } = play
  const kind = kindOf(id, play)
  const values = random() < 0.3 ? {} : givenTo(kind, locale, play)
  await writing.update(kind, id, { ...values }, { status, locale })
  expected.write(id, locale, values)
  if (status === 'published') expected.copy(id, 'draft', 'published', locale)
  return `update ${kind} ${id} ${status} ${locale} ${JSON.stringify(values)}`
}

const takeBack: Step = async (id, { locale }, play) => {
  if (!play.expected.has(id, 'draft', locale)) return `no ${locale} of ${id} to unpublish`
  await play.writing.change('unpublish', kindOf(id, play), id, { locale })
  play.expected.remove(id, [at('published', locale)])
  return `unpublish ${id} ${locale}`
}

const publish: Step = async (id, { locale }, play) => {
  if (!play.expected.has(id, 'draft', locale)) return `no ${locale} of ${id} to publish`
  await play.writing.change('publish', kindOf(id, play), id, { locale })
  play.expected.copy(id, 'draft', 'published', locale)
  return `publish ${id} ${locale}`
}

const discard: Step = async (id, { locale }, play) => {
  if (!play.expected.has(id, 'draft', locale)) return `no ${locale} of ${id} to discard`
  await play.writing.change('discardDraft', kindOf(id, play), id, { locale })
  play.expected.copy(id, 'published', 'draft', locale)
  return `discard ${id} ${locale}`
}

const remove: Step = async (id, { locale }, play) => {
  const all = play.random() < 0.4
  await play.writing.remove(kindOf(id, play), id, { locale, all })
  const locales = all ? LOCALES : [locale]
  play.expected.remove(
    id,
    STATUSES.flatMap(status => locales.map(code => at(status, code))),
  )
  return `delete ${id} ${all ? 'all' : locale}`
}

function nextStep({ expected, random }: Play): Step {
  const { size } = expected.docs
  const choice = random()
  if (size < 2 || (choice < 0.15 && size < 8)) return create
  if (choice < 0.66) return update
  if (choice < 0.73) return publish
  if (choice < 0.81) return takeBack
  return choice < 0.88 ? discard : remove
}

async function run(t: ExecutionContext, seed: number): Promise<void> {
  const play: Play = {
    writing: await openWriting(t, model),
    expected: new Expected(),
    random: randomFrom(seed),
  }
  const done: string[] = []
  const reported = () => done.slice(-12).join('\n')
  for (let turn = 1; turn <= STEPS; turn++) {
    const step = nextStep(play)
    const where = { status: pick(STATUSES, play), locale: pick(LOCALES, play) }
    done.push(await step(pick([...play.expected.docs.keys()], play), where, play))
    if (turn % 5 === 0) await compare(t, play.writing, play.expected, reported())
  }
  await compare(t, play.writing, play.expected, reported())
}

for (const seed of SEEDS)
  test.serial(
    `reads after any sequence of writes, publishes, translations, links and deletions match the model (seed ${seed})`,
    t => {
      return run(t, seed)
    },
  )

test.serial('publishing documents in any order gives the same links', async t => {
  const shownBy = async (order: readonly number[]) => {
    const writing = await openWriting(t, model)
    const draft = { status: 'draft' } as const
    const bands = [
      idOf(await writing.create('band', { title: 'x' }, draft)),
      idOf(await writing.create('band', { title: 'y' }, draft)),
    ]
    const a = idOf(await writing.create('song', { title: 'a', mate: bands[0], tags: bands }, draft))
    const b = idOf(await writing.create('song', { title: 'b', mate: bands[1], tags: [bands[1]] }, draft))
    const all = [
      ['band', bands[0]],
      ['band', bands[1]],
      ['song', a],
      ['song', b],
    ] as const
    for (const index of order) await writing.update(all[index]?.[0] ?? 'song', all[index]?.[1], {})
    const titles = (list: unknown) => [list].flat().map(each => (each as Row | null)?.title)
    const found = []
    for (const [kind, id] of all) {
      const row = await writing.find(kind, id)
      found.push([row?.title, titles(row?.mate ?? row?.mateOf), titles(row?.tags ?? row?.songs)])
    }
    return found
  }
  const first = await shownBy([0, 1, 2, 3])
  t.deepEqual(first, [
    ['x', ['a'], ['a']],
    ['y', ['b'], ['a', 'b']],
    ['a', ['x'], ['x', 'y']],
    ['b', ['y'], ['y']],
  ])
  t.deepEqual(await shownBy([3, 2, 1, 0]), first)
  t.deepEqual(await shownBy([2, 0, 3, 1]), first)
})
