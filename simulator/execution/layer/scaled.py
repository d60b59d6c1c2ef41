def run_scaled(network, v, plan, batch=1, word=8, full=False):
    return True
