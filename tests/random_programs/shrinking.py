"""Smaller programs with the same fault."""


def shrunk(recipe, is_wrong, most=200):
    """A recipe of which no piece can be left out.

    Args:
        recipe: of a program that is wrong.
        is_wrong: whether the program of a recipe is.
        most: how many are tried.
    """
    size = max(1, len(recipe.pieces) // 2)
    while size:
        at = 0
        while at < len(recipe.pieces) and most:
            fewer = recipe._replace(pieces=recipe.pieces[:at] + recipe.pieces[at + size :])
            most -= 1
            if is_wrong(fewer):
                recipe = fewer
            else:
                at += size
        size //= 2
    for change in (
        {"large": False},
        {"random": False},
        {"optimizer": "SGD"},
        {"optimizer": ""},
        {"stopped_data": True},
    ):
        simpler = recipe._replace(header=recipe.header._replace(**change))
        if simpler != recipe and is_wrong(simpler):
            recipe = simpler
    return recipe
