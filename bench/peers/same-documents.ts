import assert from 'node:assert/strict'
import type { Running } from '../process.ts'
import type { PlanRequest } from '../rows.ts'
import type { Contender } from './contender.ts'
import type { Answered, Raw } from './documents.ts'
import { numberOf, type RowName } from './rows.ts'

export interface Started {
  readonly contender: Contender
  readonly server: Running
}

const LOOKED_AT = 3

/** That all of them answer the row's requests with the same documents. */
export async function assertSameDocuments(row: RowName, started: readonly Started[]): Promise<void> {
  for (let index = 0; index < LOOKED_AT; index++) {
    let expected: Answered | undefined
    for (const { contender, server } of started) {
      const asked = contender.requests[row]?.[index]
      assert(asked)
      const answered = contender.read(row, await ask(server, asked))
      expected ??= answered
      assert(answered.documents.length > 0)
      assert.deepEqual(answered, expected, `${contender.name} answers ${asked.path} differently`)
    }
  }
}

/** Checks that the documents created in each product can be read publicly, with their relations. */
export async function assertWritten(started: readonly Started[]): Promise<void> {
  for (const { contender, server } of started) {
    const [asked] = contender.requests.create ?? []
    if (!asked || !contender.madeAt) continue
    const sent = asked.body?.() as Raw
    const made = await ask(server, { ...asked, body: () => sent })
    const { documents } = contender.read('populate', await ask(server, { path: contender.madeAt(made) }))
    const { documentId, ...rest } = documents[0] ?? {}
    assert(documentId, `${contender.name} answers no document`)
    const related = { author: [rest.author].map(nameOf), categories: (rest.categories as Raw[]).map(nameOf) }
    assert.deepEqual({ ...rest, ...related }, wanted((sent.data ?? sent) as Raw), contender.name)
  }
}

/** The article with its relations' names, as it has to be read after it was sent. */
function wanted({ _status, author, categories, ...plain }: Raw): Raw {
  return {
    ...plain,
    author: [`Author ${numberOf(author)}`],
    categories: (categories as unknown[]).map(each => `Category ${numberOf(each)}`),
  }
}

const nameOf = (related: unknown): unknown => (related as Raw).name

async function ask({ base }: Running, { method = 'GET', path, body }: PlanRequest): Promise<Raw> {
  const answer = await fetch(base + path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body()) }),
  })
  assert(answer.ok, `${method} ${path}: ${answer.status}`)
  return (await answer.json()) as Raw
}
