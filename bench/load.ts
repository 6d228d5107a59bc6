import autocannon from 'autocannon'
import { pathsOf, type RowName } from './rows.ts'

// One round of load, in a process of its own: `load.ts BASE ROW SECONDS`; writes its result as JSON.
const [base = '', row = 'one', seconds = '3'] = process.argv.slice(2)

const result = await autocannon({
  url: base,
  connections: 10,
  duration: Number(seconds),
  requests: pathsOf(row as RowName).map(path => ({ path })),
})
const { requests, latency, errors, non2xx } = result
process.stdout.write(
  JSON.stringify({
    total: requests.total,
    perSecond: requests.average,
    p50: latency.p50,
    p99: latency.p99,
    failed: errors + non2xx,
  }),
)
