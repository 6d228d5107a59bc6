/**
 * The candidate that the writer of `word` most likely meant; undefined without a near one. Checked in this order: the same
 * word in another spelling, a synonym from other systems, and a word of which at most a third of the letters differ (a
 * swap of two neighbours counts once).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const known = [...candidates]
  const plain = normalizeWord(word)
  return (
    known.find(candidate => normalizeWord(candidate) === plain) ??
    synonymsOf(word).find(meaning => known.includes(meaning)) ??
    closest(word, known)
  )
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
  return known.length === 0 ? `: ${none}` : `: one of ${known.map(each => `\`${each}\``).join(', ')}`
}

/** Optimal string alignment distance. Returns `limit` without computing it for words that are too long or too different in length. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 80 || b.length > 80) return limit
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      current.push(stepCost(a, b, row, column, { before, above, current }))
    }
    before = above
    above = current
  }
  return above[b.length] ?? limit
}

interface DistanceRows {
  readonly before: readonly number[]
  readonly above: readonly number[]
  readonly current: readonly number[]
}

function stepCost(a: string, b: string, row: number, column: number, rows: DistanceRows): number {
  const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY
  const same = a[row - 1] === b[column - 1]
  const cost = Math.min(
    at(rows.above, column) + 1,
    at(rows.current, column - 1) + 1,
    at(rows.above, column - 1) + (same ? 0 : 1),
  )
  const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
  return swapped ? Math.min(cost, at(rows.before, column - 2) + 1) : cost
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
}

/** Lower-case letters and digits only: `landingPage`, `landing-page` and `landing_page` are the same word. */
const normalizeWord = (word: string): string =>
  word
    .replace(/^(?:api|plugin)::(?:[^.]+\.)?/, '')
    .toLowerCase()
    .replace(/[-_.\s]/g, '')

/** The possible meanings of a word, likeliest first. */
export function synonymsOf(word: string): readonly string[] {
  const plain = normalizeWord(word)
  return Object.hasOwn(SYNONYMS, plain) ? (SYNONYMS[plain] ?? []) : []
}
