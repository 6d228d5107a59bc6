import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import { fault, RequestFault } from '../../core/faults/fault.ts'
import { openCallerKeys } from '../../core/identity/callers.ts'
import type { Identify } from '../../core/identity/identify.ts'
import { isPrivate, networkOf } from '../../core/identity/rate-limit.ts'

const caller = (kind: Caller['kind'], name: string, id?: number) =>
  ({ kind, grants: { name }, user: id === undefined ? null : { id } }) as unknown as Caller

const KNOWN: Readonly<Record<string, Caller>> = {
  'Bearer website': caller('token', 'website'),
  'Bearer ann': caller('user', 'editor', 7),
  'Bearer ann-elsewhere': caller('user', 'editor', 7),
}

function open() {
  const valid = new Map(Object.entries(KNOWN))
  const callers = openCallerKeys()
  const identify: Identify = async authorization => {
    const found = authorization === undefined ? caller('public', 'public') : valid.get(authorization)
    if (!found) throw new RequestFault(fault('unauthorized', 'Missing or invalid credentials'))
    return found
  }
  return {
    valid,
    identify: callers.remembering(identify),
    of: (authorization?: string, peer = '203.0.113.9') =>
      callers.keyFor({ headers: authorization === undefined ? {} : { authorization }, peer }),
  }
}

test('a credential counts for its owner after verification, for its address before', async t => {
  const { of, identify } = open()
  t.is(of('Bearer website'), '203.0.113.9')
  await identify('Bearer website')
  await identify('Bearer ann')
  await identify('Bearer ann-elsewhere')
  t.is(of('Bearer website'), 'token website')
  t.is(of('Bearer website', '198.51.100.1'), 'token website')
  t.is(of('Bearer ann'), of('Bearer ann-elsewhere'))
  t.not(of('Bearer ann'), of())
})

test('an invalid credential opens no counter of its own', async t => {
  const { of, identify, valid } = open()
  for (const forged of ['Bearer x', 'Bearer token website', 'token website', 'Basic eDp5'])
    await t.throwsAsync(identify(forged)).then(() => t.is(of(forged), '203.0.113.9'))
  await identify(undefined)
  t.is(of(), '203.0.113.9')
  await identify('Bearer website')
  valid.delete('Bearer website')
  await t.throwsAsync(identify('Bearer website'))
  t.is(of('Bearer website'), '203.0.113.9', 'a credential that was withdrawn counts for its address again')
})

test('addresses of private networks are recognised', t => {
  const own = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.9.9', '192.168.1.1']
  for (const address of [...own, '169.254.1.1', '100.64.0.1', 'fd00::1', 'fe80::1%eth0', '10.0.0.1:5050'])
    t.true(isPrivate(networkOf(address)), address)
  const others = [
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '192.169.0.1',
    '100.128.0.1',
    '11.0.0.1',
    '127a.example',
  ]
  for (const address of [...others, '2001:db8::1', '1::2', 'fb00::1'])
    t.false(isPrivate(networkOf(address)), address)
})
