import type { LinkChange, LinkConnection, TargetRef } from '../../core/query/command.ts'

/** `set a #7`, `connect a@start disconnect b`, `nothing`. */
export function printChange(change: LinkChange | null): string {
  if (change === null) return 'nothing'
  if (change.kind === 'set') return ['set', ...change.targets.map(printTarget)].join(' ')
  return [
    ...(change.connect.length > 0 ? ['connect', ...change.connect.map(printConnection)] : []),
    ...(change.disconnect.length > 0 ? ['disconnect', ...change.disconnect.map(printTarget)] : []),
  ].join(' ')
}

const printName = (by: TargetRef['by']): string => ('id' in by ? `#${by.id}` : by.documentId)

function printTarget({ by, locale, status }: TargetRef): string {
  const name = printName(by)
  return locale === null && status === null ? name : [name, locale ?? '', status ?? ''].join('/')
}

const printConnection = ({ position, ...target }: LinkConnection): string =>
  `${printTarget(target)}@${position.at}${'by' in position ? `:${printName(position.by)}` : ''}`
