import test from 'ava'
import { createRedactor } from '../../core/base/redact.ts'
import { type LogOptions, openLog } from '../../core/observe/log.ts'
import type { Observation } from '../../core/observe/observation.ts'

const answered: Observation = {
  kind: 'answered',
  requestId: 'r1',
  method: 'GET',
  path: '/api/books',
  route: 'book.find',
  caller: 'role public',
  status: 200,
  milliseconds: 1.25,
}

function log(observation: Observation, options: Partial<LogOptions> = {}): string {
  const lines: string[] = []
  const observer = openLog({
    level: 'debug',
    pretty: false,
    redact: text => text,
    write: line => lines.push(line),
    ...options,
  })
  observer.emit(observation)
  return lines.join('')
}

test('log collectors get one line of JSON for each observation', t => {
  const { time, ...line } = JSON.parse(log(answered))
  t.deepEqual(line, {
    level: 20,
    event: 'answered',
    requestId: 'r1',
    method: 'GET',
    path: '/api/books',
    route: 'book.find',
    caller: 'role public',
    status: 200,
    milliseconds: 1.25,
    msg: 'GET /api/books 200 in 1.3 ms for role public',
  })
  t.regex(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('terminals get sentences', t => {
  const line = log({ kind: 'listening', url: 'http://localhost:1337', milliseconds: 812.4 }, { pretty: true })
  t.regex(line, /^\d\d:\d\d:\d\d info {2}Listening on http:\/\/localhost:1337 after 812 ms\n$/)
  t.regex(
    log({ kind: 'upkeepFailed', message: 'cancelled' }),
    /"Maintenance of the database failed: cancelled"/,
  )
})

test('an error is logged with its stack and causes, and without its other properties', t => {
  const cause = Object.assign(new Error('the cause'), { password: 'hidden thing' })
  const error = new Error('the error', { cause })
  const line = log({ kind: 'failed', requestId: 'r1', error })
  t.regex(line, /the error[\s\S]*caused by Error: the cause/)
  t.notRegex(line, /hidden thing/)
  t.regex(
    log({ kind: 'failed', requestId: 'r1', error: 'a text' }, { pretty: true }),
    /\[r1\]\n {4}a text\n$/,
  )
})

test('an error whose cause is itself is logged finitely', t => {
  const error = new Error('round')
  error.cause = error
  t.is(log({ kind: 'failed', requestId: 'r1', error }).match(/caused by/g)?.length, 5)
})

test('secrets are masked in every log line', t => {
  const redact = createRedactor(['my-very-own-secret'])
  const reported =
    'connect postgres://ada:hunter22@db/x with my-very-own-secret, Authorization: Bearer abc.def'
  const line = log({ kind: 'unavailable', requestId: 'r1', reason: reported }, { redact })
  t.notRegex(line, /my-very-own-secret|hunter22|abc\.def/)
})

test('a log ignores observations below its level', t => {
  const observer = openLog({ level: 'info', pretty: false, redact: text => text, write: () => {} })
  t.false(observer.isEnabled('answered'))
  t.true(observer.isEnabled('failed'))
  t.is(log(answered, { level: 'info' }), '')
})
