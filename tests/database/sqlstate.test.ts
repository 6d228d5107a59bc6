import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'

const faultOf = (code: string, severity = 'ERROR') =>
  toDatabaseFault(Object.assign(new Error('as PostgreSQL says'), { code, severity }))

test('each SQLSTATE of a server that is being replaced, is full or stops means an unavailable database', t => {
  const codes =
    '57P01 57P02 57P03 57P04 57P05 53300 53400 53100 53200 08000 08001 08003 08004 08006 08007 08P01'
  for (const code of [...codes.split(' '), '25006', '25P03', '25P04', '40003', '58000', '58030', '58P01'])
    t.is(faultOf(code)?.kind, 'unavailable', code)
})

test('a server without room that keeps the connection is not one that is away', t => {
  for (const code of ['53100', '53200', '58030']) t.like(faultOf(code), { isOverwhelmed: true }, code)
  for (const fault of [faultOf('53300', 'FATAL'), faultOf('57P01'), faultOf('08006')])
    t.not(fault?.kind === 'unavailable' && fault.isOverwhelmed, true)
})

test('errors that end a session are unavailable, whatever their SQLSTATE; other server errors are not', t => {
  t.is(faultOf('XX000', 'FATAL')?.kind, 'unavailable')
  t.is(faultOf('XX000', 'PANIC')?.kind, 'unavailable')
  t.like(faultOf('XX000'), { kind: 'other', code: 'XX000' })
})

test('a read-only server is recognised', t => {
  t.like(faultOf('25006'), { kind: 'unavailable', isReadonly: true })
  t.false('isReadonly' in (faultOf('57P01') ?? {}))
})

test('retryable errors and timeouts are distinguished', t => {
  for (const code of ['40001', '40P01', '26000']) t.is(faultOf(code)?.kind, 'serialization', code)
  for (const code of ['57014', '55P03']) t.is(faultOf(code)?.kind, 'timeout', code)
  for (const code of ['42601', '25P02']) t.is(faultOf(code)?.kind, 'other', code)
})
