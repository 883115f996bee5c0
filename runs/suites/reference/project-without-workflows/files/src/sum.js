export const sum = (values) => values.reduce((all, value) => all + value, 0);
