import { asList, asText, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { ActionButton } from '../shell/button.tsx'
import { useWords } from '../shell/i18n.tsx'
import { useView, ViewFrame } from './use-view.tsx'

export function OperationsPage() {
  const words = useWords()
  const view = useView('operations')
  return (
    <ViewFrame title={words('operations')} view={view}>
      {data => (
        <>
          <ActionButton off={view.isFetching} onClick={() => void view.refetch()}>
            {words('refresh')}
          </ActionButton>
          {asList(data.faults)
            .map(asText)
            .map(fault => (
              <p key={fault} className="fault" role="alert">
                {fault}
              </p>
            ))}
          <Plan plan={isJsonObject(data.plan) ? data.plan : null} />
          <AdviceList advice={records(data.advice)} />
          <SlowReads reads={records(data.slowReads)} />
          <FailedEvents events={records(data.failedEvents)} />
          <Plugins plugins={isJsonObject(data.plugins) ? data.plugins : {}} />
        </>
      )}
    </ViewFrame>
  )
}

const records = (value: JsonValue | undefined): readonly JsonRecord[] => asList(value).filter(isJsonObject)

function Plan({ plan }: { readonly plan: JsonRecord | null }) {
  const words = useWords()
  const steps = records(plan?.steps)
  const refusals = records(plan?.refusals)
  return (
    <section>
      <h2>{words('pendingPlan')}</h2>
      {plan && steps.length + refusals.length === 0 && <p className="help">{words('noPlan')}</p>}
      <ul>
        {steps.map(step => (
          <li key={asText(step.summary)}>
            {asText(step.summary)} <span className="mark">{asText(step.weight)}</span>
            {asList(step.notes)
              .map(asText)
              .map(note => ` · ${note}`)}
          </li>
        ))}
        {refusals.map(refusal => (
          <li key={asText(refusal.message)} className="fault">
            {asText(refusal.message)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function AdviceList({ advice }: { readonly advice: readonly JsonRecord[] }) {
  const words = useWords()
  return (
    <section>
      <h2>{words('advice')}</h2>
      {advice.length === 0 && <p className="help">{words('noAdvice')}</p>}
      <ul>
        {advice.map(({ code, about, found, remedy, paste, severity }) => (
          <li key={`${asText(code)} ${asText(about)} ${asText(found)}`}>
            <strong className={severity === 'fault' ? 'bad' : undefined}>{asText(about)}</strong>:{' '}
            {asText(found)}. {asText(remedy)}
            {asText(paste) && <pre className="code">{asText(paste)}</pre>}
          </li>
        ))}
      </ul>
    </section>
  )
}

function SlowReads({ reads }: { readonly reads: readonly JsonRecord[] }) {
  const words = useWords()
  return (
    <section>
      <h2>{words('slowReads')}</h2>
      {reads.length === 0 && <p className="help">{words('noSlowReads')}</p>}
      <ul>
        {reads.map(({ work, times, slowest }) => (
          <li key={JSON.stringify(work)}>
            <code>{JSON.stringify(work)}</code>{' '}
            {words('slowTimes', { times: Number(times), slowest: Math.round(Number(slowest)) })}
          </li>
        ))}
      </ul>
    </section>
  )
}

function FailedEvents({ events }: { readonly events: readonly JsonRecord[] }) {
  const words = useWords()
  return (
    <section>
      <h2>{words('failedEvents')}</h2>
      {events.length === 0 && <p className="help">{words('noFailedEvents')}</p>}
      <ul>
        {events.map(event => (
          <li key={asText(event.id)}>
            <strong>
              {asText(event.uid)} {asText(event.action)}
            </strong>{' '}
            {asText(event.documentId)} · {asText(event.listener)} ·{' '}
            <time dateTime={asText(event.at)}>
              {new Date(asText(event.at)).toLocaleString(document.documentElement.lang)}
            </time>
            <p>{asText(event.reason)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

const PARTS = ['policies', 'middlewares', 'extensions', 'uses', 'routes', 'listeners'] as const

function Plugins({ plugins }: { readonly plugins: JsonRecord }) {
  const words = useWords()
  const shown = PARTS.filter(part => asList(plugins[part]).length > 0)
  return (
    <section>
      <h2>{words('plugins')}</h2>
      {shown.length === 0 && <p className="help">{words('noPlugins')}</p>}
      {shown.map(part => (
        <details key={part} className="group" open>
          <summary>{words(`plugins_${part}`)}</summary>
          <ul>
            {asList(plugins[part]).map(entry => {
              const text = typeof entry === 'string' ? entry : describeUse(entry)
              return <li key={text}>{text}</li>
            })}
          </ul>
        </details>
      ))}
    </section>
  )
}

/** `restaurant.find: request-timing, cache-control` */
function describeUse(entry: JsonValue): string {
  if (!isJsonObject(entry)) return ''
  return `${asText(entry.at)}: ${asList(entry.names).map(asText).join(', ')}`
}
