module.exports = { rest: { defaultLimit: 5, maxLimit: 50, withCount: true } }
