import { attributeName, attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** Relations and uids of a localized type always have a value per locale (reference/documents.md#2-shared-attributes). */
export function* alwaysLocalized(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    const always = declaration.type === 'relation' || declaration.type === 'uid'
    if (!always || !holder.localized || declaration.localized !== false) continue
    yield {
      code: 'always-localized',
      message: `\`${attributeName(holder, name)}\` cannot be shared by all locales: a ${declaration.type} always has one value per locale`,
      path: attributePath(holder, name, 'localized'),
    }
  }
}
