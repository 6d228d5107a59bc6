import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { fault, RequestFault } from '../../core/faults/fault.ts'
import type { HttpRequest } from '../../core/faults/http-exchange.ts'
import { readData } from '../../core/rest/parse-query-string.ts'
import { parsePrecondition } from '../../core/rest/perform-action.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const requestOf = (type: string | undefined, body: HttpRequest['body']): HttpRequest => ({
  id: '1',
  method: 'POST',
  path: '/api/books',
  search: '',
  headers: type === undefined ? {} : { 'content-type': type },
  peer: '127.0.0.1',
  body,
  stream: () => Readable.from([]),
})

/** The value of `data` in a body, or its fault: `SyntaxError`'s code and message. */
async function read(text: string | Buffer, type: string | undefined = JSON_TYPE): Promise<unknown> {
  return readData(requestOf(type, async () => Buffer.from(text as string))).catch(faultOf)
}

const faultOf = (error: unknown): string =>
  error instanceof RequestFault ? `${error.fault.code}: ${error.message}` : String(error)

const MISSING = 'validation: Missing "data" payload in the request body'

test('a body has an object under data, and other keys are ignored', async t => {
  t.deepEqual(await read('{"data":{"a":1},"locale":"fr","status":"draft"}'), { a: 1 })
  t.deepEqual(await read('\uFEFF {"data":{"a":1,"a":2}}'), { a: 2 }, 'a BOM, and the last of a key')
  const missing = ['', '{}', '{"data":null}', '{"data":"x"}', '{"data":5}', '[1]', '{"title":"x"}']
  for (const text of missing) t.is(await read(text), MISSING, text)
})

test('any JSON media type and forms are accepted; other types have no body', async t => {
  for (const type of ['application/json; charset=utf-8', 'application/vnd.api+json', 'Application/JSON'])
    t.deepEqual(await read('{"data":{"a":1}}', type), { a: 1 }, type)
  t.deepEqual(await read('data[title]=a+b%C3%A9&data[tags][]=x&data[tags][]=y', FORM_TYPE), {
    title: 'a bé',
    tags: ['x', 'y'],
  })
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', undefined])
    t.is(
      await readData(requestOf(type, () => Promise.reject(new Error('read')))).catch(faultOf),
      MISSING,
      type,
    )
})

test('a list under data is refused with the error of the reference', async t => {
  const sent = requestOf(JSON_TYPE, async () => Buffer.from('{"data":[{"a":"x","b":1}]}'))
  const refused = await t.throwsAsync(readData(sent), { instanceOf: RequestFault })
  const message =
    'this must be a `object` type, but the final value was: `null` (cast from the value `[\n  {\n    "a": "\\"x\\"",\n    "b": "1"\n  }\n]`).'
  t.deepEqual(refused?.fault, {
    code: 'validation',
    message,
    details: { errors: [{ path: [], message, name: 'ValidationError', value: null }] },
  })
})

test('invalid JSON, and JSON that is no object, are syntax errors', async t => {
  t.regex(String(await read('{ "data": ')), /^syntax: /)
  for (const text of ['"text"', 'null', '5', ' '])
    t.is(await read(text), 'syntax: invalid JSON, only supports object and array', text)
})

test('a body that is not UTF-8 is refused', async t => {
  const latin = Buffer.from('{"data":{"a":"é"}}', 'latin1')
  const refused = 'syntax: invalid UTF-8: a body has to be UTF-8 text without a Content-Encoding'
  for (const body of [latin, gzipSync('{"data":{"a":1}}')]) t.is(await read(body), refused)
  t.is(await read(Buffer.from('data[a]=é', 'latin1'), FORM_TYPE), refused)
})

test('no body reaches a prototype, for any position and spelling of the key', async t => {
  for (const text of [
    '{"__proto__":{}}',
    '{"data":{"a":[{"__proto__":1}]}}',
    '{"data":{"\\u005f_proto__":1}}',
  ])
    t.is(await read(text), 'syntax: Object contains forbidden prototype property', text)
  t.deepEqual(await read('data[__proto__][a]=1&data[b]=2', FORM_TYPE), { b: '2' })
})

test('bodies that are too deep or too long are refused', async t => {
  const deep = `{"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  t.is(await read(deep), 'validation: A body may be at most 100 levels deep')
  t.is(
    await read(`data[a]=${'x'.repeat(60_000)}`, FORM_TYPE),
    'payloadTooLarge: request entity too large',
    'a form of more than 56 KiB',
  )
  t.is(
    await read(`data=${'&data[]=x'.repeat(2_000)}`, FORM_TYPE),
    'validation: A form may have at most 1000 parameters',
  )
  const tooLong = requestOf(JSON_TYPE, async () => {
    throw new RequestFault(fault('payloadTooLarge', 'too long'))
  })
  await t.throwsAsync(readData(tooLong), { instanceOf: RequestFault, message: 'too long' })
})

test('If-Match accepts strong tags, or any', t => {
  t.is(parsePrecondition(undefined), null)
  t.deepEqual(parsePrecondition('"a", "b",W/"c"'), { tags: ['a', 'b'] })
  t.deepEqual(parsePrecondition(' * '), { tags: ['*'] })
  t.deepEqual(parsePrecondition(',"a, b" , "c",'), { tags: ['a, b', 'c'] })
  for (const nothing of ['', 'nonsense', '"a", b', 'a"b"', '"a', '*, "a"', '"*"', 'w/"a"', 'W/"a"'])
    t.deepEqual(parsePrecondition(nothing), { tags: [] }, nothing)
})
