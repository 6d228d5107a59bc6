import { type FormEvent, useState } from 'react'
import { page } from '../api/client.ts'
import { asList, asText, isJsonObject, type JsonRecord } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import { DecisionFacts } from './permissions-page.tsx'
import { useView, ViewFrame } from './use-view.tsx'

type Query = Readonly<Record<string, string>>

const METHODS = ['GET', 'POST', 'PUT', 'DELETE']
const NAMES = ['role', 'user', 'method', 'path', 'body'] as const

export function SimulatorPage() {
  const translate = useTranslate()
  const view = useView('permissions')
  const [query, setQuery] = useState<Query | null>(null)
  const answer = useView('explain', query ?? {}, query !== null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const inputs = NAMES.map(name => [name, String(data.get(name) ?? '').trim()] as const)
    setQuery(Object.fromEntries(inputs.filter(([, value]) => value !== '')))
  }
  return (
    <ViewFrame title={translate('simulator')} view={view}>
      {data => (
        <>
          <p className="help">{translate('simulatorHelp')}</p>
          <RequestForm holders={asList(data.holders).filter(isJsonObject)} onSubmit={submit} />
          <section aria-live="polite" aria-label={translate('answer')}>
            {answer.error && (
              <p className="fault" role="alert">
                {describeFault(answer.error, translate)}
              </p>
            )}
            {query !== null && !answer.error && answer.data && <Verdict answer={answer.data} />}
          </section>
        </>
      )}
    </ViewFrame>
  )
}

interface RequestFormProps {
  readonly holders: readonly JsonRecord[]
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
}

function RequestForm({ holders, onSubmit }: RequestFormProps) {
  const translate = useTranslate()
  return (
    <form className="filters" onSubmit={onSubmit}>
      <label>
        {translate('roleOrToken')}
        <select name="role">
          {holders.map(holder => (
            <option key={`${asText(holder.kind)} ${asText(holder.key)}`}>{asText(holder.key)}</option>
          ))}
        </select>
      </label>
      <label>
        {translate('orUser')}
        <input name="user" autoComplete="off" />
      </label>
      <label>
        {translate('method')}
        <select name="method">
          {METHODS.map(method => (
            <option key={method}>{method}</option>
          ))}
        </select>
      </label>
      <label className="wide">
        {translate('path')}
        <input name="path" required defaultValue={`${page.api}/`} />
      </label>
      <label className="wide">
        {translate('jsonBody')}
        <textarea name="body" rows={3} />
      </label>
      <button type="submit" className="primary">
        {translate('ask')}
      </button>
    </form>
  )
}

function Verdict({ answer }: { readonly answer: JsonRecord }) {
  const translate = useTranslate()
  const { permission, decides, withheld, conditions } = answer
  const details = isJsonObject(permission) ? permission : null
  const sql = details && isJsonObject(details.sql) ? details.sql : null
  const code = asList(decides).map(asText)
  const applied = asList(conditions)
    .filter(isJsonObject)
    .map(({ subject, action }) => `${asText(subject)}.${asText(action)}`)
  return (
    <div className="card">
      <h2 className={answer.allowed === true ? 'good' : 'bad'}>
        {translate(answer.allowed === true ? 'mayRequest' : 'mayNotRequest', {
          who: asText(answer.user) || asText(answer.role) || asText(answer.token),
          request: asText(answer.request),
        })}
      </h2>
      {answer.barred === true && <p>{translate('barred')}</p>}
      {typeof answer.status === 'number' && answer.outcome !== 'passed' && (
        <p>{translate('serverAnswers', { status: answer.status, message: asText(answer.message) })}</p>
      )}
      {asText(answer.reason) && <p>{asText(answer.reason)}</p>}
      {asList(withheld).length > 0 && (
        <p>{translate('withheld', { names: asList(withheld).map(asText).join(', ') })}</p>
      )}
      {applied.length > 0 && <p>{translate('conditionsApply', { names: applied.join(', ') })}</p>}
      {code.length > 0 && <p>{translate('codeDecides', { names: code.join(', ') })}</p>}
      {details && <DecisionFacts action={details} />}
      {sql && (
        <>
          <h3>{translate('sqlCondition')}</h3>
          <p>{asText(sql.of)}</p>
          <pre className="code">{asText(sql.text)}</pre>
          <ol>
            {asList(sql.parameters).map((value, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: parameters are numbered.
              <li key={at}>
                <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  )
}
