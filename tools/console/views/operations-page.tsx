import { asList, asText, isJsonObject, type JsonRecord, type JsonValue, objectsOf } from '../api/json.ts'
import { ActionButton } from '../shell/button.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { useView, ViewFrame } from './use-view.tsx'

export function OperationsPage() {
  const translate = useTranslate()
  const view = useView('operations')
  return (
    <ViewFrame title={translate('operations')} view={view}>
      {data => (
        <>
          <ActionButton inactive={view.isFetching} onClick={() => void view.refetch()}>
            {translate('refresh')}
          </ActionButton>
          {asList(data.faults)
            .map(asText)
            .map(fault => (
              <p key={fault} className="fault" role="alert">
                {fault}
              </p>
            ))}
          <Plan plan={isJsonObject(data.plan) ? data.plan : null} />
          <AdviceList advice={objectsOf(data.advice)} />
          <SlowReads reads={objectsOf(data.slowReads)} />
          <FailedEvents events={objectsOf(data.failedEvents)} />
          <Plugins plugins={isJsonObject(data.plugins) ? data.plugins : {}} />
        </>
      )}
    </ViewFrame>
  )
}

function Plan({ plan }: { readonly plan: JsonRecord | null }) {
  const translate = useTranslate()
  const steps = objectsOf(plan?.steps)
  const refusals = objectsOf(plan?.refusals)
  return (
    <section>
      <h2>{translate('pendingPlan')}</h2>
      {plan && steps.length + refusals.length === 0 && <p className="help">{translate('noPlan')}</p>}
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
  const translate = useTranslate()
  return (
    <section>
      <h2>{translate('advice')}</h2>
      {advice.length === 0 && <p className="help">{translate('noAdvice')}</p>}
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
  const translate = useTranslate()
  return (
    <section>
      <h2>{translate('slowReads')}</h2>
      {reads.length === 0 && <p className="help">{translate('noSlowReads')}</p>}
      <ul>
        {reads.map(({ work, times, slowest }) => (
          <li key={JSON.stringify(work)}>
            <code>{JSON.stringify(work)}</code>{' '}
            {translate('slowTimes', { times: Number(times), slowest: Math.round(Number(slowest)) })}
          </li>
        ))}
      </ul>
    </section>
  )
}

function FailedEvents({ events }: { readonly events: readonly JsonRecord[] }) {
  const translate = useTranslate()
  return (
    <section>
      <h2>{translate('failedEvents')}</h2>
      {events.length === 0 && <p className="help">{translate('noFailedEvents')}</p>}
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
  const translate = useTranslate()
  const shown = PARTS.filter(part => asList(plugins[part]).length > 0)
  return (
    <section>
      <h2>{translate('plugins')}</h2>
      {shown.length === 0 && <p className="help">{translate('noPlugins')}</p>}
      {shown.map(part => (
        <details key={part} className="group" open>
          <summary>{translate(`plugins_${part}`)}</summary>
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
