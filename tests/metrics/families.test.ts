import test from 'ava'
import { gauge, gauges, openCounter, openHistogram } from '../../core/observe/metrics/families.ts'
import { openMeters } from '../../core/observe/metrics/meters.ts'
import { mergeFamilies, printFamilies } from '../../core/observe/metrics/print-families.ts'

const HEAD = { name: 'a_total', help: 'What it is.' }

test('a counter is printed with its labels, whose values are escaped', t => {
  const counter = openCounter(HEAD, ['route', 'status'], [['known', '200']])
  counter.add(['GET /a"b\\c', '200'])
  counter.add(['GET /a"b\\c', '200'], 2)
  t.deepEqual(printFamilies([counter.read()]).split('\n'), [
    '# HELP a_total What it is.',
    '# TYPE a_total counter',
    'a_total{route="known",status="200"} 0',
    'a_total{route="GET /a\\"b\\\\c",status="200"} 3',
    '',
  ])
})

test('a bucket counts values up to its bound, those of lower buckets included', t => {
  const histogram = openHistogram({ name: 'took', help: 'Long.' }, 'of')
  for (const seconds of [0, 0.001, 0.0011, 10, 11]) histogram.add('x', seconds)
  const lines = printFamilies([histogram.read()]).split('\n')
  const of = (bound: string) => lines.find(line => line.includes(`le="${bound}"`))?.split(' ')[1]
  t.deepEqual(['0.001', '0.0025', '5', '10', '+Inf'].map(of), ['2', '3', '3', '4', '5'])
  t.true(lines.includes('took_count{of="x"} 5'))
  t.true(lines.includes('took_sum{of="x"} 21.0021'))
})

test('metrics of several workers are added up, except shared ones and those of each worker', t => {
  const families = (count: number) => {
    const counter = openCounter(HEAD, ['status'])
    counter.add(['200'], count)
    if (count > 1) counter.add(['500'])
    const seen = gauges({ name: 'seen', help: 'By all.' }, 'max', 'state', { waiting: count })
    return [counter.read(), seen, gauge({ name: 'own', help: 'By one.' }, 'each', count)]
  }
  const merged = mergeFamilies([
    { worker: 1, families: families(1) },
    { worker: 2, families: families(3) },
  ])
  t.deepEqual(
    printFamilies(merged)
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#')),
    [
      'a_total{status="200"} 4',
      'a_total{status="500"} 1',
      'seen{state="waiting"} 3',
      'own{worker="1"} 1',
      'own{worker="2"} 3',
    ],
  )
})

test('a database that does not answer does not delay other metrics', async t => {
  const meters = openMeters()
  meters.addSource(() => new Promise(() => {}))
  meters.addSource(() => Promise.reject(new Error('no connection')))
  meters.addSource(async () => [gauge({ name: 'there', help: 'It is.' }, 'sum', 1)])
  const names = (await meters.read()).map(({ name }) => name)
  t.true(names.includes('there'))
  t.true(names.includes('plinth_http_requests_total'))
})
