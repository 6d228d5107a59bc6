import { setImmediate } from 'node:timers/promises'
import { addAll } from '../../../core/base/plain-data.ts'
import { ignoreUnhandled } from '../../../core/base/with-timeout.ts'
import type { Model } from '../../../core/model/model.ts'
import type { StreamIndex } from '../index-stream.ts'
import { parseLine, readLines } from '../parse-line.ts'
import type { LineFault } from '../stream-fault.ts'
import type { ParsedDocument } from './parse-document.ts'
import { type DocumentParseContext, describesBy, parseStreamedDocument } from './parse-document.ts'

export interface LineBatch {
  readonly documents: readonly ParsedDocument[]
  readonly faults: readonly LineFault[]
  /** The number of the last line in it. */
  readonly last: number
  /** All documents, including invalid ones. */
  readonly count: number
}

/** The number of documents in memory at once, and the bytes of their lines. */
const DOCUMENTS = 250
const BYTES = 4 * 1024 * 1024

/** Lines parsed before yielding to the event loop. */
const LINES = 16

export interface Stream {
  readonly path: string
  readonly index: StreamIndex
  readonly model: Model
  /** Skipped lines. */
  readonly without: ReadonlySet<number>
  /** ISO 8601. */
  readonly now: string
}

/** Yields parsed batches of the lines after `done`. Parses the next batch while the database processes the previous one. */
export async function* readBatches(stream: Stream, done: number): AsyncGenerator<LineBatch> {
  const batches = parseBatches(stream, done)
  let next = ignoreUnhandled(batches.next())
  try {
    for (;;) {
      const batch = await next
      if (batch.done) return
      next = ignoreUnhandled(batches.next())
      yield batch.value
    }
  } finally {
    await batches.return(undefined)
  }
}

async function* parseBatches(stream: Stream, done: number): AsyncGenerator<LineBatch> {
  const options = termsOf(stream)
  let batch = newBatch()
  let isFirst = true
  for await (const { number, bytes } of readLines(stream.path)) {
    const skipped = isFirst || number <= done || stream.without.has(number)
    isFirst = false
    if (skipped) continue
    read(number, bytes, batch, stream, options)
    if (batch.count % LINES === 0) await setImmediate()
    if (batch.count < DOCUMENTS && batch.bytes < BYTES) continue
    yield batch
    batch = newBatch()
  }
  if (batch.count > 0) yield batch
}

const newBatch = () => ({
  documents: [] as ParsedDocument[],
  faults: [] as LineFault[],
  last: 0,
  count: 0,
  bytes: 0,
})

function termsOf({ index, model, now }: Stream): DocumentParseContext {
  return { model, now, describes: describesBy(index.header), locales: model.locales.map(({ code }) => code) }
}

function read(
  line: number,
  bytes: Buffer,
  batch: ReturnType<typeof newBatch>,
  { model }: Stream,
  options: DocumentParseContext,
): void {
  batch.count += 1
  batch.bytes += bytes.length
  batch.last = line
  const streamed = parseLine(bytes)
  const type = streamed.ok ? model.contentTypes.get(streamed.value.type) : undefined
  if (!streamed.ok || !type) {
    const message = streamed.ok ? 'it changed while it was read' : streamed.reasons.join('; ')
    batch.faults.push({ line, about: null, message })
    return
  }
  const { document, faults } = parseStreamedDocument(streamed.value, type, line, options)
  batch.documents.push(document)
  addAll(batch.faults, faults)
}
