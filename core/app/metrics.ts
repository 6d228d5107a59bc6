import { ok, type Result } from '../base/result.ts'
import type { Responder } from '../faults/http-exchange.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import type { StartFault } from './start-fault.ts'

/** What this process counts, and where that can be read. */
export interface Numbers {
  readonly meters: Meters
  /** Answers with them on the server's own port; null: that is not asked for. */
  readonly responder: Responder | null
  /** A port of their own that this process listens to; null: there is none. */
  readonly url: string | null
  close(): void
}

export interface NumbersTerms {
  /** Of all processes, where there are several, as text: the primary has them, and the port of their own. */
  readonly readAll?: () => Promise<string>
}

/** null: nobody asks for numbers, so nothing is counted. */
export async function openNumbers(
  { host, metrics }: Pick<ServerSettings, 'host' | 'metrics'>,
  { readAll }: NumbersTerms,
): Promise<Result<Numbers | null, StartFault>> {
  if (!metrics.enabled) return ok(null)
  const [{ openMeters }, { printFamilies }, { openMetrics, serveMetrics }] = await Promise.all([
    import('../observe/metrics/meters.ts'),
    import('../observe/metrics/print-families.ts'),
    import('../http/metrics.ts'),
  ])
  const meters = openMeters()
  const read = readAll ?? (async () => printFamilies(await meters.read()))
  const { path, port } = metrics
  const nothing = { meters, responder: null, url: null, close: () => {} }
  if (port === null) return ok({ ...nothing, responder: openMetrics({ path, read }) })
  if (readAll) return ok(nothing)
  const server = await serveMetrics({ path, read, host, port })
  if (server.ok) return ok({ ...nothing, ...server.value })
  return { ok: false, reasons: server.reasons.map(message => ({ kind: 'other', message })) }
}
