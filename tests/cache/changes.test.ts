import test from 'ava'
import { type Change, changesSince, isUnaffected, type ShardState } from '../../core/cache/changes.ts'
import { VersionHistory } from '../../core/cache/version-history.ts'

// What recorded changes prove. Records as the triggers write them: ;step:layout:changes.

const shard = (version: string, changes: string | null): ShardState => ['notes', 3, version, changes]

const rowsOf = (changes: readonly Change[] | null): readonly string[] | null =>
  changes?.map(({ kind, row }) => `${kind} ${row}`) ?? null

test('changes since a version are those of the records after it', t => {
  const records = ';10:ab:u1.4;20:ab:u2.8,u3.8;30:ab:d4'
  t.deepEqual(rowsOf(changesSince(shard('160', records), '130')), ['delete 4'])
  t.deepEqual(rowsOf(changesSince(shard('160', records), '110')), ['delete 4', 'update 2', 'update 3'])
  t.deepEqual(rowsOf(changesSince(shard('60', records), '0')), [
    'delete 4',
    'update 2',
    'update 3',
    'update 1',
  ])
})

test('changes are unknown if records are missing or cut, or the version is of another history', t => {
  const records = ';10:ab:u1.4;20:ab:u2.8;30:ab:d4'
  for (const [version, changes, from] of [
    ['160', null, '150'],
    ['160', '', '150'],
    ['160', records, '90'],
    ['160', records, '140'],
    ['160', records, '170'],
    ['165', records, '130'],
    ['160', records.slice(1), '100'],
    ['160', records.slice(3), '100'],
  ] as const)
    t.is(changesSince(shard(version, changes), from), null, `${version} ${changes} ${from}`)
  t.deepEqual(rowsOf(changesSince(shard('160', records.slice(3)), '110')), ['delete 4', 'update 2'])
})

test('a record of any rows makes all changes before and with it unknown', t => {
  const records = ';10:ab:u1.4;20:ab:*;30:ab:d4'
  t.deepEqual(rowsOf(changesSince(shard('160', records), '130')), ['delete 4'])
  t.is(changesSince(shard('160', records), '110'), null)
})

const difference = (version: string, changes: string): readonly ShardState[] => [shard(version, changes)]

/** Observes 100, then 110 and 130, each with an update. */
function observed(): VersionHistory {
  const history = new VersionHistory()
  history.add(history.head, '100', difference('100', ';5:ab:*'))
  history.add(history.head, '110', difference('110', ';5:ab:*;10:ab:u1.1'))
  history.add(history.head, '130', difference('130', ';5:ab:*;10:ab:u1.1;20:ab:u2.1'))
  return history
}

const allRows = (history: VersionHistory, from: string, until: string) =>
  rowsOf(history.changes(from, until)?.flat() ?? null)

test('a history has the changes between any two observed versions', t => {
  const history = observed()
  t.deepEqual(allRows(history, '100', '130'), ['update 1', 'update 2'])
  t.deepEqual(allRows(history, '110', '130'), ['update 2'])
  t.deepEqual(allRows(history, '130', '130'), [])
  t.is(allRows(history, '130', '110'), null, 'backwards')
  t.is(allRows(history, '105', '130'), null, 'a version that was not observed')
})

test('a history starts again where changes are unknown', t => {
  const history = observed()
  history.add(history.head, '200', difference('200', ';10:ab:u1.1'))
  t.is(allRows(history, '100', '200'), null)
  t.is(allRows(history, '130', '200'), null)
  history.add(history.head, '205', difference('205', ';5:ab:u7.1'))
  t.deepEqual(allRows(history, '200', '205'), ['update 7'])
})

test('a version whose shards are not all known proves nothing', t => {
  const history = observed()
  // The row of another shard was removed, or the sum has another origin.
  history.add(history.head, '141', difference('140', ';10:ab:u3.1'))
  t.is(allRows(history, '130', '141'), null)
  history.add(history.head, '151', difference('151', ';10:ab:u3.1'))
  t.is(allRows(history, '141', '151'), null)
})

test('statements that were sent at the same time are put in order by their shards', t => {
  const history = new VersionHistory()
  history.add(history.head, '100', difference('100', ''))
  const base = history.head
  history.add(base, '130', difference('130', ';10:ab:u1.1;20:ab:u2.1'))
  history.add(base, '160', difference('160', ';10:ab:u1.1;20:ab:u2.1;30:ab:u3.1'))
  t.deepEqual(allRows(history, '130', '160'), ['update 3'])
  history.add(base, '110', difference('110', ';10:ab:u1.1'))
  t.is(allRows(history, '110', '160'), null, 'an answer of an older snapshot that came late')
  t.is(allRows(history, '130', '110'), null)
})

test('a history forgets its oldest versions', t => {
  const history = new VersionHistory()
  for (let version = 1; version <= 1000; version++)
    history.add(history.head, String(version), difference(String(version), ';1:ab:u1.1'))
  t.is(allRows(history, '1', '1000'), null)
  t.is(allRows(history, '900', '1000')?.length, 100)
})

const change = (options: Partial<Change>): Change => ({
  ...{ table: 'notes', layout: 'ab', kind: 'update', row: 1, bits: 0n, document: '' },
  ...options,
})

const root = { table: 'notes', deciding: 0b001n, documentId: null, ignoresRemoved: false }
const uses = { tables: new Map([['notes', { columns: 0b011n, layout: 'ab' }]]), root }

test('an update matters by its columns, and by its row if it decides nothing', t => {
  const list = { uses, documentId: null }
  const isKept = (options: Partial<Change>, rows: readonly number[] | null = [5, 6]) =>
    isUnaffected(list, rows, [change(options)])
  t.true(isKept({ row: 5, bits: 0b100n }), 'a column that is not read')
  t.false(isKept({ row: 5, bits: 0b010n }), 'a shown column of a row of the answer')
  t.true(isKept({ row: 7, bits: 0b010n }), 'a shown column of another row')
  t.false(isKept({ row: 7, bits: 0b011n }), 'a column that decides')
  t.false(isKept({ row: 7, bits: 0b010n }, null), 'unknown rows')
  t.false(isKept({ row: 7, bits: 0b100n, layout: 'cd' }), 'bits of other columns')
  t.false(isKept({ row: 7, bits: 0b100n, table: 'tags' }), 'a table whose changes are not recorded')
  t.false(isUnaffected({ uses: { ...uses, root: null }, documentId: null }, [5], [change({ bits: 0b010n })]))
  t.false(isUnaffected({ uses: null, documentId: null }, [5], [change({ bits: 0b100n })]))
})

test('new rows matter to lists, and to answers for their own document', t => {
  // The first digits of the MD5 digest of `a`.
  const insert = change({ kind: 'insert', row: 7, document: '0cc175b9' })
  t.false(isUnaffected({ uses, documentId: null }, [5], [insert]))
  t.false(isUnaffected({ uses, documentId: 'a' }, [5], [insert]))
  t.true(isUnaffected({ uses, documentId: 'b' }, [5], [insert]))
})

test('removed rows matter if they are part of the answer, or may be counted or skipped by it', t => {
  const first = { uses: { ...uses, root: { ...root, ignoresRemoved: true } }, documentId: null }
  t.true(isUnaffected(first, [5], [change({ kind: 'delete', row: 7 })]))
  t.false(isUnaffected(first, [5], [change({ kind: 'delete', row: 5 })]))
  t.false(isUnaffected({ uses, documentId: null }, [5], [change({ kind: 'delete', row: 7 })]))
})
