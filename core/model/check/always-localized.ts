import { attributeName, attributePath, attributesOf, type Declarations } from '../declarations.ts'
import type { Finding } from './finding.ts'

/** Relations and uids have a value per locale, whatever the rest of a localized type does (documents.md 2). */
export function* alwaysLocalized(declarations: Declarations): Generator<Finding> {
  for (const { holder, name, declaration } of attributesOf(declarations)) {
    const always = declaration.type === 'relation' || declaration.type === 'uid'
    if (!always || !holder.localized || declaration.localized !== false) continue
    yield {
      code: 'always-localized',
      message: `\`${attributeName(holder, name)}\` cannot be shared by all locales: a ${declaration.type} always has one value per locale`,
      path: attributePath(holder, name, 'localized'),
    }
  }
}
