import { decide } from '../../core/access/decide.ts'
import { PUBLIC, resolveHolders } from '../../core/access/holders.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Settings } from '../../core/project/settings/settings.ts'
import type { Advice } from './advice.ts'

/** Roles that anybody can have, with content-types whose drafts these roles can read. */
export function* lookAtDrafts(settings: Settings, model: Model): Generator<Advice> {
  const { roles } = resolveHolders(settings)
  for (const { key, why } of rolesOfAnybody(settings)) {
    const cells = roles.get(key)
    if (!cells) continue
    const types = [...model.contentTypes.values()].filter(type => readsDrafts(cells, type))
    if (types.length > 0) yield adviceOn(key, why, types)
  }
}

type Cells = Parameters<typeof decide>[0]

const readsDrafts = (cells: Cells, type: ContentType): boolean =>
  type.draftAndPublish &&
  decide(cells, type, 'readDrafts').said !== false &&
  READS.some(action => decide(cells, type, action).said !== false)

const READS = ['find', 'findOne'] as const

function rolesOfAnybody({ auth }: Settings): readonly { readonly key: string; readonly why: string }[] {
  const { enabled, role } = auth.register
  return [
    { key: PUBLIC, why: 'anybody, without signing in' },
    ...(enabled && role !== PUBLIC ? [{ key: role, why: 'anybody who registers (`auth.register`)' }] : []),
  ]
}

const adviceOn = (key: string, why: string, types: readonly ContentType[]): Advice => ({
  severity: 'advice',
  code: 'public-drafts',
  about: `roles.${key}`,
  found: `${why} reads drafts of ${types.map(({ key: name }) => `\`${name}\``).join(', ')}`,
  remedy:
    'remove `readDrafts` where drafts are not for the public, or set it to `false` where `update` implies it',
})
