import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslate } from '../shell/i18n.tsx'
import { Diagram } from './diagram.tsx'
import { type ModelNode, modelEdges, readModel } from './model-data.ts'
import { SourceLine, useView, ViewFrame } from './use-view.tsx'

export function ModelPage() {
  const translate = useTranslate()
  const view = useView('model')
  return (
    <ViewFrame title={translate('model')} view={view}>
      {data => <ModelView nodes={readModel(data)} />}
    </ViewFrame>
  )
}

function ModelView({ nodes }: { readonly nodes: readonly ModelNode[] }) {
  const translate = useTranslate()
  const [search, setSearch] = useState('')
  const names = nodes.map(({ uid }) => uid).join(' ')
  const graph = useQuery({
    queryKey: ['console', 'diagram', names],
    queryFn: async () => (await import('./layout-graph.ts')).layoutGraph(nodes, modelEdges(nodes)),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const searchText = search.trim().toLowerCase()
  const matches = useMemo(
    () =>
      new Set(
        searchText === '' ? [] : nodes.filter(node => matchesSearch(node, searchText)).map(({ uid }) => uid),
      ),
    [nodes, searchText],
  )
  return (
    <>
      <label className="narrow-field">
        {translate('searchModel')}
        <input type="search" value={search} onChange={event => setSearch(event.target.value)} />
      </label>
      <p role="status" className="help">
        {searchText !== '' && translate('found', { count: matches.size })}
        {searchText !== '' && matches.size === 0 && ` ${translate('nothingFound')}`}
      </p>
      {graph.data ? (
        <Diagram graph={graph.data} matches={matches} />
      ) : (
        <p aria-busy={graph.error === null}>{graph.error ? translate('noDiagram') : translate('loading')}</p>
      )}
      <h2>{translate('listOfTypes')}</h2>
      {nodes
        .filter(({ uid }) => searchText === '' || matches.has(uid))
        .map(node => (
          <TypeEntry key={node.uid} node={node} nodes={nodes} />
        ))}
    </>
  )
}

const matchesSearch = ({ name, uid, attributes }: ModelNode, searchText: string): boolean =>
  [name, uid, ...attributes.map(attribute => attribute.name)].some(text =>
    text.toLowerCase().includes(searchText),
  )

const anchorOf = (uid: string): string => `type-${uid.replaceAll(/[^\w-]/g, '-')}`

interface TypeEntryProps {
  readonly node: ModelNode
  readonly nodes: readonly ModelNode[]
}

/** A type of the diagram as text. */
function TypeEntry({ node, nodes }: TypeEntryProps) {
  const translate = useTranslate()
  const nameOf = (uid: string) => nodes.find(other => other.uid === uid)?.name ?? uid
  return (
    <details className="group" id={anchorOf(node.uid)}>
      <summary>
        {node.name} <span className="mark">{translate(node.kind)}</span>
      </summary>
      <SourceLine location={node.location} />
      <ul>
        {node.attributes.map(({ name, type, flags, targets }) => (
          <li key={name}>
            <strong>{name}</strong> {type}
            {flags.map(flag => ` · ${translate(flag)}`)}
            {targets.length > 0 && ` → ${targets.map(nameOf).join(', ')}`}
          </li>
        ))}
      </ul>
    </details>
  )
}
