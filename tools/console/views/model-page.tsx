import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useWords } from '../shell/i18n.tsx'
import { Diagram } from './diagram.tsx'
import { edgesOf, type ModelNode, readModel } from './model-data.ts'
import { Place, useView, ViewFrame } from './use-view.tsx'

export function ModelPage() {
  const words = useWords()
  const view = useView('model')
  return (
    <ViewFrame title={words('model')} view={view}>
      {data => <ModelView nodes={readModel(data)} />}
    </ViewFrame>
  )
}

function ModelView({ nodes }: { readonly nodes: readonly ModelNode[] }) {
  const words = useWords()
  const [search, setSearch] = useState('')
  const names = nodes.map(({ uid }) => uid).join(' ')
  const graph = useQuery({
    queryKey: ['console', 'diagram', names],
    queryFn: async () => (await import('./layout-graph.ts')).layoutGraph(nodes, edgesOf(nodes)),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const wanted = search.trim().toLowerCase()
  const found = useMemo(
    () => new Set(wanted === '' ? [] : nodes.filter(node => matches(node, wanted)).map(({ uid }) => uid)),
    [nodes, wanted],
  )
  return (
    <>
      <label className="narrow-field">
        {words('searchModel')}
        <input type="search" value={search} onChange={event => setSearch(event.target.value)} />
      </label>
      <p role="status" className="help">
        {wanted !== '' && words('found', { count: found.size })}
        {wanted !== '' && found.size === 0 && ` ${words('nothingFound')}`}
      </p>
      {graph.data ? (
        <Diagram graph={graph.data} found={found} />
      ) : (
        <p aria-busy={graph.error === null}>{graph.error ? words('noDiagram') : words('loading')}</p>
      )}
      <h2>{words('listOfTypes')}</h2>
      {nodes
        .filter(({ uid }) => wanted === '' || found.has(uid))
        .map(node => (
          <TypeEntry key={node.uid} node={node} nodes={nodes} />
        ))}
    </>
  )
}

const matches = ({ name, uid, attributes }: ModelNode, wanted: string): boolean =>
  [name, uid, ...attributes.map(attribute => attribute.name)].some(text =>
    text.toLowerCase().includes(wanted),
  )

const anchorOf = (uid: string): string => `type-${uid.replaceAll(/[^\w-]/g, '-')}`

interface TypeEntryProps {
  readonly node: ModelNode
  readonly nodes: readonly ModelNode[]
}

/** What the diagram shows, as text. */
function TypeEntry({ node, nodes }: TypeEntryProps) {
  const words = useWords()
  const nameOf = (uid: string) => nodes.find(other => other.uid === uid)?.name ?? uid
  return (
    <details className="group" id={anchorOf(node.uid)}>
      <summary>
        {node.name} <span className="mark">{words(node.kind)}</span>
      </summary>
      <Place place={node.place} />
      <ul>
        {node.attributes.map(({ name, type, flags, targets }) => (
          <li key={name}>
            <strong>{name}</strong> {type}
            {flags.map(flag => ` · ${words(flag)}`)}
            {targets.length > 0 && ` → ${targets.map(nameOf).join(', ')}`}
          </li>
        ))}
      </ul>
    </details>
  )
}
