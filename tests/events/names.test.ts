import test from 'ava'
import { faultOfEvent, isMeant, listenerKey } from '../../core/events/event-names.ts'
import { modelOf } from '../model/compiled.ts'
import { model } from './listening.ts'

test('events are named by a content-type and an action, each of which may be any', t => {
  for (const name of ['article.publish', 'article.*', '*.publish', '*.create', '*.*', 'note.delete'])
    t.is(faultOfEvent(name, model), undefined, name)
})

test('an unknown event is told with the nearest name', t => {
  t.is(
    faultOfEvent('article.published', model),
    'unknown event `article.published`: did you mean `article.publish`?',
  )
  t.is(
    faultOfEvent('artcle.publish', model),
    'unknown event `artcle.publish`: did you mean `article.publish`?',
  )
  t.is(faultOfEvent('publish', model), 'unknown event `publish`: did you mean `*.publish`?')
  t.is(faultOfEvent('notes.*', model), 'unknown event `notes.*`: did you mean `note.*`?')
  t.is(
    faultOfEvent('article.discarddraft', model),
    'unknown event `article.discarddraft`: did you mean `article.discardDraft`?',
  )
})

test('where no name is near, it is told what names look like', t => {
  for (const name of ['', '.', '*', 'something.else', 'api::article.article', '__proto__.create'])
    t.regex(
      faultOfEvent(name, model) ?? '',
      /^unknown event `.*`: it is a content-type's name or `\*`, a dot, and `create`, /,
    )
})

test('a type without drafts has no event of publishing', async t => {
  const plain = await modelOf('contentTypes: { note: { attributes: { text: string } } }')
  t.is(
    faultOfEvent('note.publish', model),
    'unknown event `note.publish`: `note` has no drafts (draftAndPublish)',
  )
  t.is(
    faultOfEvent('*.unpublish', plain),
    'unknown event `*.unpublish`: no content-type has drafts (draftAndPublish)',
  )
})

test('users and files are listened to by name; what the project file says tells of nothing', t => {
  for (const name of ['user.create', 'user.*', 'file.delete'])
    t.is(faultOfEvent(name, model), undefined, name)
  t.is(faultOfEvent('role.create', model), 'unknown event `role.create`: documents of `role` tell of nothing')
  t.is(
    faultOfEvent('user.publish', model),
    'unknown event `user.publish`: `user` has no drafts (draftAndPublish)',
  )
  for (const type of [model.builtIn.user, model.builtIn.file]) {
    t.false(isMeant('*.*', type, 'create'))
    t.true(isMeant(`${type.key}.*`, type, 'create'))
  }
})

test('a listener has the same name at every start, and no two have the same', t => {
  t.is(listenerKey('audit', '*.*', 0), 'audit *.*')
  t.is(listenerKey('audit', '*.*', 1), 'audit *.* 2')
  const long = 'x'.repeat(300)
  t.is(listenerKey(long, '*.*', 0).length, 255)
  t.not(listenerKey(long, '*.*', 0), listenerKey(long, '*.*', 1))
})
