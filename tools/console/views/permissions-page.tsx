import { useState } from 'react'
import { asList, asText, isJsonObject, type JsonRecord } from '../api/json.ts'
import { type Translate, useTranslate } from '../shell/i18n.tsx'
import { SourceLine, useView, ViewFrame } from './use-view.tsx'

export function PermissionsPage() {
  const translate = useTranslate()
  const view = useView('permissions')
  return (
    <ViewFrame title={translate('permissions')} view={view}>
      {data => <Holders data={data} />}
    </ViewFrame>
  )
}

function Holders({ data }: { readonly data: JsonRecord }) {
  const translate = useTranslate()
  const holders = asList(data.holders).filter(isJsonObject)
  const openings = asList(data.openings).filter(isJsonObject)
  const [key, setKey] = useState(asText(holders[0]?.key))
  const matrix = useView('permissions', { role: key }, key !== '')
  return (
    <>
      <label className="narrow-field">
        {translate('roleOrToken')}
        <select value={key} onChange={event => setKey(event.target.value)}>
          {holders.map(holder => (
            <option key={`${asText(holder.kind)} ${asText(holder.key)}`} value={asText(holder.key)}>
              {translate(holder.kind === 'token' ? 'tokenNamed' : 'roleNamed', { name: asText(holder.key) })}
            </option>
          ))}
        </select>
      </label>
      <SourceLine location={holders.find(holder => holder.key === key)?.location} />
      {matrix.data ? (
        <Matrix subjects={asList(matrix.data.subjects).filter(isJsonObject)} />
      ) : (
        <p aria-busy="true">{translate('loading')}</p>
      )}
      {openings.length > 0 && <h2>{translate('openings')}</h2>}
      <ul>
        {openings.map(opening => (
          <li key={`${asText(opening.kind)} ${asText(opening.key)}`}>
            <strong>{asText(opening.key)}</strong> {describeOpening(opening, translate)}{' '}
            <SourceLine location={opening.location} />
          </li>
        ))}
      </ul>
    </>
  )
}

function describeOpening({ auth, policies }: JsonRecord, translate: Translate): string {
  const names = asList(policies).map(asText)
  const door =
    auth === false
      ? translate('openToAll')
      : asList(auth).length > 0
        ? asList(auth).map(asText).join(', ')
        : ''
  return [door, ...(names.length > 0 ? [translate('policiesOf', { names: names.join(', ') })] : [])]
    .filter(text => text !== '')
    .join(' · ')
}

interface Cell {
  readonly subject: string
  readonly action: JsonRecord
}

/** Rows are types, columns actions. A cell shows its details when it is focused, hovered or pressed. */
function Matrix({ subjects }: { readonly subjects: readonly JsonRecord[] }) {
  const translate = useTranslate()
  const [shown, setShown] = useState<Cell | null>(null)
  const rows = subjects.map(row => ({
    subject: asText(row.subject),
    actions: asList(row.actions).filter(isJsonObject),
  }))
  const columns = [...new Set(rows.flatMap(({ actions }) => actions.map(({ action }) => asText(action))))]
  return (
    <>
      <p className="help">{translate('matrixHelp')}</p>
      <section
        className="decision"
        aria-live="polite"
        aria-label={translate('decision')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it.
        tabIndex={0}
      >
        {shown ? <Decision {...shown} /> : <p>{translate('chooseCell')}</p>}
      </section>
      <div className="table-frame">
        <table className="matrix">
          <thead>
            <tr>
              <th scope="col">{translate('type')}</th>
              {columns.map(action => (
                <th key={action} scope="col">
                  {action}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ subject, actions }) => (
              <tr key={subject}>
                <th scope="row">{subject}</th>
                {columns.map(name => {
                  const action = actions.find(each => each.action === name)
                  return <td key={name}>{action && <Mark cell={{ subject, action }} onShow={setShown} />}</td>
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Mark({ cell, onShow }: { readonly cell: Cell; readonly onShow: (cell: Cell) => void }) {
  const translate = useTranslate()
  const state = stateOf(cell.action)
  const show = () => onShow(cell)
  return (
    <button
      type="button"
      className={`quiet mark-${state}`}
      aria-label={`${asText(cell.action.action)} ${cell.subject}: ${translate(state)}`}
      onFocus={show}
      onMouseEnter={show}
      onClick={show}
    >
      {MARKS[state]}
    </button>
  )
}

function stateOf({ allowed, where, fields, set }: JsonRecord): keyof typeof MARKS {
  if (allowed !== true) return 'denied'
  return where || fields || set ? 'inPart' : 'allowed'
}

const MARKS = { allowed: '✓', inPart: '◐', denied: '–' } as const

function Decision({ subject, action }: Cell) {
  const translate = useTranslate()
  return (
    <>
      <h2>
        {asText(action.action)} {subject}: {translate(stateOf(action))}
      </h2>
      <DecisionFacts action={action} />
    </>
  )
}

const FACTS = ['where', 'fields', 'set', 'readable', 'writable'] as const

/** The line that decides, and the restrictions. */
export function DecisionFacts({ action }: { readonly action: JsonRecord }) {
  const translate = useTranslate()
  const through = asList(action.through).map(asText)
  const facts = FACTS.filter(name => action[name] !== null && action[name] !== undefined)
  return (
    <>
      {asText(action.reason) && <p>{asText(action.reason)}</p>}
      <p>
        <SourceLine location={action.location} />
      </p>
      {through.length > 1 && <p>{translate('inheritedThrough', { roles: through.join(' → ') })}</p>}
      <dl className="facts">
        {facts.map(name => (
          <div key={name}>
            <dt>{translate(name)}</dt>
            <dd>
              <code>{printFact(action[name])}</code>
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const printFact = (value: unknown): string =>
  Array.isArray(value) && value.every(each => typeof each === 'string')
    ? value.join(', ')
    : JSON.stringify(value)
