import { ticked } from './text.ts'

/**
 * The candidate that the writer of `word` most likely meant; undefined without a near one. Checked in this order: the same
 * word in another spelling, a synonym from other systems, and a word of which at most a third of the letters differ (a
 * swap of two neighbours counts once). Also undefined once MOST_COMPARED candidates were compared.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (!mayCompare()) return undefined
  const known = [...candidates]
  compared += known.length
  const plain = normalizeWord(word)
  return (
    known.find(candidate => normalizeWord(candidate) === plain) ??
    synonymsOf(word).find(meaning => known.includes(meaning)) ??
    closest(word, known)
  )
}

/**
 * In one turn of the event loop, which is how long a project file is checked: thousands of unknown words would otherwise be
 * compared with thousands of known ones. The first ones get a suggestion, which is enough to find the mistake.
 */
const MOST_COMPARED = 200_000

let compared = 0

function mayCompare(): boolean {
  if (compared === 0)
    setImmediate(() => {
      compared = 0
    })
  return compared < MOST_COMPARED
}

function closest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(Math.min(word.length, 40) / 3))
  let best: string | undefined
  let least = limit + 1
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate, least)
    if (distance < least) {
      best = candidate
      least = distance
    }
    // Equal words were found before.
    if (least <= 1) break
  }
  return best
}

/** `: did you mean \`x\`?`, or an empty text. Goes at the end of a message about an unknown word. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : `: did you mean \`${near}\`?`
}

/** Longer lists of valid words are left out of the message. */
const MAX_LISTED = 14

/** Like `didYouMean`, but without a near word it lists all valid words if they are few, or says `none` if there are none. */
export function hintFor(word: string, candidates: Iterable<string>, none = 'there is none'): string {
  const known = [...candidates]
  const near = didYouMean(word, known)
  if (near !== '' || known.length > MAX_LISTED) return near
  return known.length === 0 ? `: ${none}` : `: one of ${ticked(known)}`
}

/** Says that a value is not one of an enumeration. */
export const notListed = (value: string, name: string, values: readonly string[]): string =>
  `\`${value}\` is not a value of \`${name}\`${hintFor(value, values)}`

/**
 * Optimal string alignment distance. Returns `limit` without computing it for words that are too long, too different in
 * length, or whose beginnings differ too much already.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > LONGEST || b.length > LONGEST) return limit
  let rows = DISTANCE_ROWS
  for (let column = 0; column <= b.length; column++) rows.above[column] = column
  let leastAbove = 0
  for (let row = 1; row <= a.length; row++) {
    const least = fillRow(a, b, row, rows)
    // A swap continues from two rows above, all else from one.
    if (least >= limit && leastAbove >= limit) return limit
    leastAbove = least
    rows = { before: rows.above, above: rows.current, current: rows.before }
  }
  return rows.above[b.length] ?? limit
}

/** Characters. */
const LONGEST = 80

interface DistanceRows {
  readonly before: Uint8Array
  readonly above: Uint8Array
  readonly current: Uint8Array
}

const distanceRow = () => new Uint8Array(LONGEST + 1)

/** Reused by every comparison. */
const DISTANCE_ROWS: DistanceRows = {
  before: distanceRow(),
  above: distanceRow(),
  current: distanceRow(),
}

/** Returns the least distance of the row. */
function fillRow(a: string, b: string, row: number, { before, above, current }: DistanceRows): number {
  let [left, least] = [row, row]
  current[0] = row
  const [own, last] = [a.charCodeAt(row - 1), a.charCodeAt(row - 2)]
  for (let column = 1; column <= b.length; column++) {
    const same = own === b.charCodeAt(column - 1)
    let cost = Math.min((above[column] ?? 0) + 1, left + 1, (above[column - 1] ?? 0) + (same ? 0 : 1))
    const swapped = column > 1 && own === b.charCodeAt(column - 2) && last === b.charCodeAt(column - 1)
    if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
    current[column] = cost
    left = cost
    if (cost < least) least = cost
  }
  return least
}

/** Words of other systems, of SQL and of everyday language, with their equivalents here, likeliest first. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  // Filter operators.
  $equals: ['$eq'],
  $equal: ['$eq'],
  $is: ['$eq', '$null'],
  $equalsi: ['$eqi'],
  $ieq: ['$eqi'],
  $neq: ['$ne'],
  $notequal: ['$ne'],
  $notequals: ['$ne'],
  $noteq: ['$ne'],
  $lessthan: ['$lt'],
  $before: ['$lt'],
  $lessthanorequal: ['$lte'],
  $le: ['$lte'],
  $greaterthan: ['$gt'],
  $after: ['$gt'],
  $greaterthanorequal: ['$gte'],
  $ge: ['$gte'],
  $nin: ['$notIn'],
  $any: ['$in'],
  $oneof: ['$in'],
  $anyof: ['$in'],
  $like: ['$contains'],
  $includes: ['$contains'],
  $include: ['$contains'],
  $has: ['$contains'],
  $notlike: ['$notContains'],
  $ncontains: ['$notContains'],
  $ncontainsi: ['$notContainsi'],
  $ilike: ['$containsi'],
  $icontains: ['$containsi'],
  $isnull: ['$null'],
  $empty: ['$null'],
  $exists: ['$notNull'],
  $isnotnull: ['$notNull'],
  $range: ['$between'],
  $beginswith: ['$startsWith'],
  $starts: ['$startsWith'],
  $prefix: ['$startsWith'],
  $ends: ['$endsWith'],
  $suffix: ['$endsWith'],
  // Actions in permissions and in the documents API.
  read: ['find', 'findOne', 'findMany'],
  get: ['find', 'findOne', 'findMany'],
  list: ['find', 'findMany'],
  index: ['find', 'findMany'],
  all: ['find', 'findMany'],
  select: ['find', 'findMany'],
  query: ['find', 'findMany'],
  view: ['find', 'findOne'],
  show: ['findOne', 'find'],
  fetch: ['find', 'findOne'],
  readone: ['findOne'],
  getone: ['findOne'],
  readmany: ['findMany', 'find'],
  getall: ['findMany', 'find'],
  findall: ['findMany', 'find'],
  findmany: ['find'],
  findfirst: ['findOne'],
  findbyid: ['findOne'],
  add: ['create'],
  insert: ['create'],
  new: ['create'],
  post: ['create'],
  store: ['create'],
  edit: ['update'],
  write: ['update', 'create'],
  modify: ['update'],
  patch: ['update'],
  put: ['update'],
  change: ['update'],
  save: ['update', 'create'],
  remove: ['delete'],
  destroy: ['delete'],
  erase: ['delete'],
  draft: ['readDrafts'],
  preview: ['readDrafts'],
  login: ['callback', 'local'],
  signin: ['callback', 'local'],
  signup: ['register'],
  // Keys in project.yaml.
  attachedto: ['targetField'],
  attachedfield: ['targetField'],
  sourcefield: ['targetField'],
  source: ['targetField'],
  from: ['targetField'],
  reference: ['target'],
  ref: ['target'],
  model: ['target'],
  to: ['target'],
  targetfield: ['target'],
  target: ['targetField'],
  values: ['enum'],
  options: ['enum'],
  choices: ['enum'],
  singularname: ['displayName'],
  pluralname: ['pluralApiId'],
  collectionname: ['tableName'],
  table: ['tableName'],
  fields: ['attributes'],
  properties: ['attributes'],
  columns: ['attributes'],
  drafts: ['draftAndPublish', 'readDrafts'],
  i18n: ['localized'],
  translatable: ['localized'],
  many: ['repeatable', 'multiple'],
  nullable: ['required'],
  notnull: ['required'],
  defaultvalue: ['default'],
  pattern: ['regex'],
  inherits: ['extends'],
  parent: ['extends'],
  parents: ['extends'],
  condition: ['where'],
  conditions: ['where'],
  filter: ['where', 'filters'],
  filters: ['where'],
  orderby: ['sort'],
  order: ['sort'],
  include: ['populate'],
  relations: ['populate'],
  with: ['populate'],
  limit: ['pagination'],
  page: ['pagination'],
  lang: ['locale'],
  language: ['locale'],
  state: ['status'],
  publicationstate: ['status'],
  optional: ['required'],
  minimum: ['min'],
  maximum: ['max'],
  // Sections of project.yaml.
  types: ['contentTypes'],
  models: ['contentTypes'],
  collections: ['contentTypes'],
  schemas: ['contentTypes'],
  entities: ['contentTypes'],
  permissions: ['roles'],
  tokens: ['apiTokens'],
  apikeys: ['apiTokens'],
  routes: ['routesConfig'],
  policies: ['routesConfig'],
  resolvers: ['resolversConfig'],
  locales: ['i18n'],
}

/** Lower-case letters and digits only: `landingPage`, `landing-page` and `landing_page` are the same word. */
const normalizeWord = (word: string): string =>
  word
    .replace(/^(?:api|plugin|global)::(?:[^.]+\.)?/, '')
    .toLowerCase()
    .replace(/[-_.\s]/g, '')

/** The possible meanings of a word, likeliest first. */
export function synonymsOf(word: string): readonly string[] {
  const plain = normalizeWord(word)
  return Object.hasOwn(SYNONYMS, plain) ? (SYNONYMS[plain] ?? []) : []
}
