import { defineExtension } from 'plinth'

/** GET /api/notes/pinned returns the pinned notes. */
export default defineExtension({
  register({ rest }) {
    rest.route(
      'GET',
      '/notes/pinned',
      async ({ app, state }) => {
        // `as` applies the caller's permissions.
        const notes = app.documents('note').as(state.ability)
        return { data: await notes.findMany({ filters: { pinned: true }, sort: 'title' }) }
      },
      { auth: { scope: ['api::note.note.find'] } },
    )
  },
})
