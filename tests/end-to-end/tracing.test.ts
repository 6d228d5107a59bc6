import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import test from 'ava'
import { compileApp, serveApp } from '../../core/index.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freshDatabase } from '../harness/test-database.ts'

const PROJECT = `name: Notes
server: { host: 127.0.0.1, port: 0, slowQuery: 0 }
database: { url: "\${DATABASE_URL}" }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes: { note: { attributes: { text: { type: string, unique: true } } } }
roles: { public: { permissions: { note: [find, create] } } }
`

const SECRET = 'a-value-that-must-stay-hidden'

test('OpenTelemetry sees requests in the traces of their callers, with their database statements', async t => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  t.teardown(() => provider.shutdown())
  const database = await freshDatabase()
  t.teardown(() => database.drop())
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const blueprint = await compileApp(folder.path, { DATABASE_URL: database.url })
  if (!blueprint.ok) return t.fail(JSON.stringify(blueprint.reasons))
  const served = await serveApp(blueprint.value, { write: () => {}, pretty: false, production: true })
  if (!served.ok) return t.fail(JSON.stringify(served.reasons))
  t.teardown(() => served.value.close())

  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const ask = async (path: string, init: RequestInit = {}): Promise<readonly ReadableSpan[]> => {
    exporter.reset()
    const headers = {
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      'X-Request-Id': 'traced',
      'Content-Type': 'application/json',
    }
    await fetch(served.value.url + path, { ...init, headers }).then(answer => answer.text())
    const spans = exporter.getFinishedSpans().filter(span => span.spanContext().traceId === traceId)
    return spans.toSorted((a, b) => a.kind - b.kind)
  }
  const [request, work] = await ask(`/api/notes?filters[text][$eq]=${SECRET}`)
  t.is(request?.name, 'GET note.find')
  t.is(request?.kind, SpanKind.SERVER)
  t.is(request?.parentSpanContext?.spanId, 'b7ad6b7169203331')
  t.deepEqual(request?.attributes, {
    'http.request.method': 'GET',
    'url.path': '/api/notes',
    'plinth.request_id': 'traced',
    'http.route': 'note.find',
    'http.response.status_code': 200,
  })
  t.is(work?.name, 'note.find')
  t.is(work?.kind, SpanKind.CLIENT)
  t.is(work?.parentSpanContext?.spanId, request?.spanContext().spanId)
  t.deepEqual(work?.attributes, { 'db.system.name': 'postgresql', 'db.operation.name': 'read' })

  const body = JSON.stringify({ data: { text: SECRET } })
  await ask('/api/notes', { method: 'POST', body })
  const refused = await ask('/api/notes', { method: 'POST', body })
  t.is(refused[0]?.status.code, SpanStatusCode.UNSET, 'a refusal is no fault of the server')
  t.true(
    refused.slice(1).some(({ name, attributes }) => name === 'note.create' && 'error.type' in attributes),
  )
  const reported = refused.map(({ name, attributes, events, status }) => ({
    name,
    attributes,
    events,
    status,
  }))
  t.false(JSON.stringify(reported).includes(SECRET))
})
