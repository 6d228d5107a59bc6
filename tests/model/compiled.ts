import { printPath } from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Attribute, Holder, Model } from '../../core/model/model.ts'
import type { Storage, Table } from '../../core/model/storage.ts'
import type { Project } from '../../core/project/project.ts'
import { declare } from './declare.ts'

export async function modelOf(yaml: string): Promise<Model> {
  return compiled(await declare(yaml))
}

export function compiled(project: Project): Model {
  const result = compileModel(project)
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join('\n'))
  return result.value
}

export async function storageOf(yaml: string): Promise<Storage> {
  return compileStorage(await modelOf(yaml))
}

/** `line:column path: message` of everything that is wrong. */
export async function faultsOf(yaml: string): Promise<readonly string[]> {
  const result = compileModel(await declare(yaml))
  if (result.ok) return []
  return result.reasons.map(
    ({ message, location, path }) => `${location.line}:${location.column} ${printPath(path)}: ${message}`,
  )
}

export function holderOf(model: Model, name: string): Holder {
  const holder =
    model.components.get(name) ?? [...model.contentTypes.values()].find(({ key }) => key === name)
  if (!holder) throw new Error(`no ${name}`)
  return holder
}

export function attributeOf(model: Model, holder: string, name: string): Attribute {
  const attribute = holderOf(model, holder).attributes.get(name)
  if (!attribute) throw new Error(`no ${holder}.${name}`)
  return attribute
}

export function tableOf(storage: Storage, name: string): Table {
  const table = storage.tables.find(each => each.name === name)
  if (!table) throw new Error(`no table ${name}`)
  return table
}
